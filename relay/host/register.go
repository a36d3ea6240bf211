package host

import (
	"errors"
	"fmt"

	"github.com/cosim-go/cosim/relay/caps"
	"github.com/cosim-go/cosim/relay/manifest"
)

// A Registration is a cartridge that a host may start.
type Registration struct {
	Install manifest.Install
	// Groups are what it can do. Its own manifest takes their place when it runs. One of the caps has to accept
	// caps.Identity.
	Groups   []manifest.CapGroup
	Provider Provider
	// Dir makes it a part of the roster; see [Host.SyncRoster].
	Dir bool
}

// Register makes a cartridge known, after those that are. Its caps can be asked for from now on, and the first request starts
// it. Of equally good cartridges the first one that was registered serves a request.
func (h *Host) Register(r Registration) error {
	if err := r.check(); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.unlock()
	if h.closed {
		return ErrClosed
	}
	h.register(r)
	h.announce()
	return nil
}

// check fails for a registration that lacks something.
func (r Registration) check() error {
	if r.Install.ID == "" {
		return errors.New("host: a cartridge without an id")
	}
	if r.Provider == nil {
		return fmt.Errorf("host: cartridge %q has no provider", r.Install.ID)
	}
	if !caps.HasIdentity(capsOf(r.Groups)) {
		return fmt.Errorf("host: cartridge %q does not offer identity (%s)", r.Install.ID, caps.Identity)
	}
	return nil
}

func (h *Host) register(r Registration) *cartridge {
	c := &cartridge{install: r.Install, groups: r.Groups, provider: r.Provider, dir: r.Dir}
	h.cartridges = append(h.cartridges, c)
	h.index = nil
	return c
}

// capsOf returns the caps of groups in their order.
func capsOf(groups []manifest.CapGroup) []*caps.Cap {
	m := manifest.Cartridge{Groups: groups}
	return m.Caps()
}
