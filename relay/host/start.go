package host

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/internal/outbox"
	"github.com/cosim-go/cosim/relay/manifest"
)

// errDoomed ends a start whose process is to end.
var errDoomed = errors.New("it is ended")

// bringUp opens a cartridge, greets and checks it, tells it what it has to know, and lets it run.
func (p *process) bringUp() *StartError {
	o := &p.h.options
	begun := time.Now()
	link, err := p.open(o.HelloLimit)
	if err == nil {
		err = p.adopt(link)
	}
	if err != nil {
		return &StartError{manifest.EntryPointMissing, err}
	}
	return p.join(o.HelloLimit - time.Since(begun))
}

// adopt makes a link the process's, unless it is to end already.
func (p *process) adopt(link Link) error {
	p.h.mu.Lock()
	defer p.h.mu.Unlock()
	p.link = link
	if p.doom != nil {
		return errDoomed
	}
	return nil
}

// join greets and checks the cartridge at the other end of the link, for a HELLO within some time.
func (p *process) join(helloLimit time.Duration) *StartError {
	o := &p.h.options
	p.in = frame.NewReader(p.link, &frame.ReaderOptions{Idle: p.idle})
	out := frame.NewWriter(p.link, nil)
	var g *greeting
	late := fmt.Sprintf("it could not be greeted in time (%v)", o.HelloLimit)
	if fault := p.within(helloLimit, late, manifest.HandshakeFailed, func() (fault *StartError) {
		g, fault = greet(p.in, out, o.Limits)
		return fault
	}); fault != nil {
		return fault
	}
	late = fmt.Sprintf("its identity could not be checked in time (%v)", o.IdentityLimit)
	if fault := p.within(o.IdentityLimit, late, manifest.IdentityRejected, func() *StartError {
		return checkIdentity(p.in, out)
	}); fault != nil {
		return fault
	}
	late = fmt.Sprintf("it could not be told what it has to know in time (%v)", o.IdentityLimit)
	return p.within(o.IdentityLimit, late, manifest.HandshakeFailed, func() *StartError {
		if err := p.enter(g, out); err != nil {
			return &StartError{manifest.HandshakeFailed, err}
		}
		return nil
	})
}

// within does a part of the start. What takes longer than the limit is ended, by ending the process; tooLate is the error
// then.
func (p *process) within(limit time.Duration, tooLate string, kind manifest.AttachmentKind, do func() *StartError) *StartError {
	var late atomic.Bool
	timer := time.AfterFunc(limit, func() {
		late.Store(true)
		p.link.Kill()
		p.link.Close()
	})
	fault := do()
	timer.Stop()
	if late.Load() {
		return &StartError{kind, errors.New(tooLate)}
	}
	return fault
}

// open opens the cartridge. It does not wait longer for a provider that does not keep to its context.
func (p *process) open(limit time.Duration) (Link, error) {
	ctx, cancel := context.WithTimeoutCause(p.ctx, limit, fmt.Errorf("it did not start in time (%v)", limit))
	defer cancel()
	type opened struct {
		link Link
		err  error
	}
	result := make(chan opened, 1)
	go func() {
		link, err := p.openProvider(ctx)
		result <- opened{link, err}
	}()
	select {
	case r := <-result:
		return r.link, r.err
	case <-ctx.Done():
	}
	go func() {
		if r := <-result; r.link != nil {
			r.link.Kill()
			r.link.Close()
		}
	}()
	return nil, context.Cause(ctx)
}

func (p *process) openProvider(ctx context.Context) (Link, error) {
	o, ok := p.cart.provider.(lineOpener)
	if !ok {
		return p.cart.provider.Open(ctx)
	}
	log := p.h.options.Logger.With("cartridge", p.cart.install.ID)
	return o.openLines(ctx, func(pid int) { log = log.With("pid", pid) }, func(line []byte) {
		log.Info("stderr", "line", string(line))
	})
}

// Told is what a cartridge was told so far of what it has to know.
type told struct {
	policy  *policy
	states  uint64
	desired string
}

// enter tells the cartridge the policy and the state of its surroundings, and then lets it run.
func (p *process) enter(g *greeting, out *frame.Writer) error {
	h := p.h
	h.mu.Lock()
	p.limits, p.pools, p.table = g.limits, g.pools, g.table
	h.mu.Unlock()
	for {
		h.mu.Lock()
		if p.doom != nil {
			h.mu.Unlock()
			return errDoomed
		}
		policy, probe := p.news()
		if policy == nil && probe == nil {
			p.begin(g)
			h.unlock()
			return nil
		}
		h.mu.Unlock()
		if err := p.write(out, policy, probe); err != nil {
			return err
		}
	}
}

// write writes what a cartridge has to know, what of it is there.
func (p *process) write(out *frame.Writer, policy *policy, probe *frame.Frame) error {
	var err error
	if policy != nil && len(policy.wire) > frame.PrefixSize+p.limits.FrameLimit() {
		p.h.options.Logger.Error("the policy is too long for a cartridge", "cartridge", p.cart.install.ID)
	} else if policy != nil {
		err = out.WriteWire(policy.wire)
	}
	if err == nil && probe != nil {
		err = out.Write(probe)
	}
	if errors.Is(err, frame.ErrFrameTooLarge) {
		p.h.options.Logger.Error("the state is too long for a cartridge", "cartridge", p.cart.install.ID, "error", err)
		p.h.mu.Lock()
		p.answered(probe.ID)
		p.h.mu.Unlock()
		err = nil
	}
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		return fmt.Errorf("writing to it: %w", err)
	}
	return nil
}

// begin makes the process one that runs, and gives it what waits for it.
func (p *process) begin(g *greeting) {
	h, c := p.h, p.cart
	p.out = outbox.New(p.link, &outbox.Options{
		Number: true, Manual: true, MaxFrame: g.limits.FrameLimit(), MaxQueued: h.options.MaxQueued, Failed: p.writeFailed,
	})
	c.phase, c.groups, p.manifest = running, g.manifest.Groups, g.manifest
	if c.provider == nil {
		c.install = g.manifest.Install()
		h.cartridges = append(h.cartridges, c)
	}
	h.index = nil
	h.happened(c, Started, p.pid(), "")
	h.announce()
	for _, w := range c.waiting.take() {
		h.deliverWaiting(c, w)
	}
}

// deliverWaiting passes on a frame that waited for a process, unless its request has ended meanwhile.
func (h *Host) deliverWaiting(c *cartridge, w waitingFrame) {
	req := h.incoming[flow.KeyOf(w.head)]
	if req == nil || req.owner != c {
		h.late(&w.head)
		return
	}
	if !h.deliver(c, req.generation, w.body, &w.head) {
		h.giveUp(req)
	}
}
