package host

import (
	"context"
	"fmt"
	"time"

	"github.com/cosim-go/cosim/relay/manifest"
)

// SyncRoster replaces the cartridges that were registered with Dir, told by registry, channel, id and version, and
// the records that others know of. New ones are added. One that is missing cannot be asked for any more, and is
// stopped when its requests have ended, after the DrainLimit at the latest; when it comes back before that it goes on
// as it was. All others stay as they are, with their processes. One that had failed stays so, unless its hash is another.
//
// SyncRoster waits for nothing. When it fails nothing has changed.
func (h *Host) SyncRoster(ctx context.Context, regs []Registration, static []manifest.Record) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	wanted := map[manifest.Install]bool{}
	for _, r := range regs {
		if err := r.check(); err != nil {
			return err
		}
		if wanted[place(r.Install)] {
			return fmt.Errorf("host: cartridge %v is in the roster twice", r.Install)
		}
		wanted[place(r.Install)] = true
	}
	h.mu.Lock()
	defer h.unlock()
	if h.closed {
		return ErrClosed
	}
	h.static = static
	for _, c := range append([]*cartridge(nil), h.cartridges...) {
		if c.dir && !c.removed && !wanted[place(c.install)] {
			h.retire(c)
		}
	}
	for _, r := range regs {
		h.want(r)
	}
	h.index = nil
	h.announce()
	return nil
}

// place returns what tells installs of a roster apart.
func place(i manifest.Install) manifest.Install {
	i.SHA256 = ""
	return i
}

// want makes sure of a cartridge of the roster.
func (h *Host) want(r Registration) {
	r.Dir = true
	for _, c := range append([]*cartridge(nil), h.cartridges...) {
		if !c.dir || place(c.install) != place(r.Install) {
			continue
		}
		if c.failure != nil && c.install.SHA256 != r.Install.SHA256 {
			h.retire(c)
			continue
		}
		if c.removed && c.phase == dying && c.process.doom.kind == Stopped {
			continue // it is on its way out
		}
		if c.removed {
			c.removed = false
			c.draining.Stop()
			c.draining = nil
		}
		return
	}
	h.register(r)
}

// retire takes a cartridge out of service, and ends it when nothing is left to do for it.
func (h *Host) retire(c *cartridge) {
	c.removed = true
	if c.process == nil {
		h.remove(c)
		return
	}
	c.draining = time.AfterFunc(h.options.DrainLimit, func() {
		h.mu.Lock()
		defer h.unlock()
		if c.removed && c.process != nil {
			h.stop(c.process, retired())
		}
	})
	if h.inFlight(c) == 0 {
		h.stop(c.process, retired())
	}
}

// retired is the end of a process whose cartridge the roster has no more.
func retired() *doom {
	return &doom{kind: Stopped, answer: environment(codeRetired, "is not in the roster any more")}
}

// inFlight returns how many requests a cartridge serves or has made.
func (h *Host) inFlight(c *cartridge) (n int) {
	for _, r := range h.incoming {
		if r.owner == c {
			n++
		}
	}
	for _, call := range h.outgoing {
		if call.owner == c {
			n++
		}
	}
	return n
}

// drain stops retired cartridges whose requests have ended.
func (h *Host) drain() {
	for _, c := range h.cartridges {
		if c.removed && c.process != nil && c.process.doom == nil && h.inFlight(c) == 0 {
			h.stop(c.process, retired())
		}
	}
}
