package host

import (
	"errors"
	"slices"
	"time"

	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/internal/outbox"
	"github.com/cosim-go/cosim/relay/manifest"
)

// A doom is why a process is ended.
type doom struct {
	kind   EventKind // Died or Stopped
	answer answer    // to its requests; its message goes on from the name of the cartridge
	exact  bool      // the message is all that is said
	silent bool      // nobody is left to answer to
}

// unhealthy is the end of a process that does not do its part.
func unhealthy(what string) *doom {
	return &doom{kind: Died, answer: environment(codeUnhealthy, "%s", what)}
}

// doom ends a process, unless that is under way. Who asks for its cartridge now waits for the next one.
func (h *Host) doom(p *process, d *doom) {
	if p.doom != nil || p.cart.process != p {
		return
	}
	p.doom = d
	p.cart.phase = dying
	p.cancel()
	if p.link != nil {
		go p.link.Kill()
	}
}

// writeFailed takes note that nothing can be written to a process any more.
func (p *process) writeFailed(err error) {
	if errors.Is(err, outbox.ErrStalled) {
		p.h.mu.Lock()
		defer p.h.unlock()
		p.h.doom(p, unhealthy("takes nothing of what is sent to it"))
		return
	}
	select { // as a rule it has ended, and its reader finds out
	case <-p.gone:
		return
	case <-time.After(exitGrace):
	}
	p.h.mu.Lock()
	defer p.h.unlock()
	p.h.doom(p, &doom{kind: Died, answer: environment(codeDied, "has closed its input")})
}

// bury waits until nothing is left of a process whose output has ended, and settles what it leaves behind.
func (p *process) bury() {
	h := p.h
	exit, ended := p.finish()
	h.mu.Lock()
	h.settle(p, exit, ended)
	h.unlock()
	close(p.gone)
}

// finish waits for the end of a process, and brings it about if need be. It returns how it ended, and whether it did so
// by itself.
func (p *process) finish() (exit Exit, byItself bool) {
	p.h.mu.Lock()
	link, grace := p.link, p.grace()
	p.cart.phase = dying
	p.h.mu.Unlock()
	p.cancel()
	if link == nil {
		return Exit{}, true
	}
	byItself = wait(link.Done(), grace)
	kill(link)
	if p.out != nil {
		p.out.Close()
	}
	link.Close()
	if !wait(link.Done(), killLimit) {
		return Exit{ExitState: ExitState{Status: -1}, Err: errImmortal}, false
	}
	return link.Exit(), byItself
}

// errImmortal is how a process ended that did not.
var errImmortal = errors.New("it did not end when it was killed")

// grace is how long a process whose output has ended may take to end by itself.
func (p *process) grace() time.Duration {
	switch {
	case !p.stopBy.IsZero():
		return time.Until(p.stopBy)
	case p.doom != nil, p.failed != nil && !p.failed.ended():
		return 0
	}
	return exitGrace
}

// ended reports whether the process may have ended by itself, which would explain the failure.
func (e *StartError) ended() bool {
	return errors.Is(e, errOutputEnded) || errors.Is(e, frame.ErrUnexpectedEOF) || errors.Is(e, frame.ErrIO)
}

// kill kills what serves a link. It does not wait for one that takes long to kill.
func kill(link Link) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		link.Kill()
	}()
	wait(done, killLimit)
}

// wait waits for something to be done, but not for long, and reports whether it is.
func wait(done <-chan struct{}, limit time.Duration) bool {
	timer := time.NewTimer(max(limit, 0))
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
	}
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// settle does what is to be done after the end of a process: its requests are answered, and what waits for the next one
// starts it.
func (h *Host) settle(p *process, exit Exit, byItself bool) {
	c := p.cart
	p.endProbes()
	c.process, c.phase = nil, idle
	delete(h.processes, p)
	a, kind := p.obituary(exit, byItself)
	switch kind {
	case Failed:
		c.failure = &manifest.AttachmentError{Kind: p.failed.Kind, Message: a.message, DetectedAt: time.Now().Unix()}
	case Died:
		c.restarts++
	}
	if c.provider == nil {
		c.removed = true
	}
	h.happened(c, kind, p.pid(), a.message)
	silent := p.doom != nil && p.doom.silent
	h.endRequests(c, p.generation, a, silent)
	h.goOn(c, a)
	h.index = nil
	h.announce()
}

// goOn starts the next process of a cartridge when somebody waits for it, and forgets the cartridge when it has no place here
// any more.
func (h *Host) goOn(c *cartridge, a answer) {
	waits := false
	for _, r := range h.incoming {
		waits = waits || r.owner == c
	}
	switch {
	case waits && c.failure == nil && c.provider != nil && !h.stopping:
		h.start(c)
		return
	case waits:
		h.endRequests(c, c.generation+1, a, h.stopping)
	}
	for _, w := range c.waiting.take() {
		h.late(&w.head)
	}
	if c.removed {
		h.remove(c)
	}
}

// remove forgets a cartridge.
func (h *Host) remove(c *cartridge) {
	if c.draining != nil {
		c.draining.Stop()
		c.draining = nil
	}
	h.cartridges = slices.DeleteFunc(h.cartridges, func(o *cartridge) bool { return o == c })
}

// endRequests ends all requests of a process, those that it serves and those that it has made. Unless nobody is left to
// tell, each is answered once.
func (h *Host) endRequests(c *cartridge, generation uint64, a answer, silent bool) {
	own := map[frame.ID]bool{} // that it serves itself
	for k, r := range h.incoming {
		if r.owner != c || r.generation != generation {
			continue
		}
		if !silent && !r.answered {
			h.answer(k, a)
			own[k.RID] = true
		}
		h.tables.release(r)
	}
	for id, call := range h.outgoing {
		if call.owner != c || call.generation != generation {
			continue
		}
		switch {
		case silent || own[id]:
		case call.bodySent:
			h.cancelUpstream(id, frame.CancelReason{Code: []byte(codeAborted), Attribution: a.attribution, Message: []byte(a.message)})
		default:
			h.answer(flow.Key{RID: id}, a)
		}
		h.releaseCall(call)
	}
	for k, o := range h.flows {
		if o.owner == c {
			delete(h.flows, k)
		}
	}
}
