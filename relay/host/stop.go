package host

import (
	"context"
	"time"

	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/manifest"
)

// stopped is the end of a process with its host.
func stopped() *doom {
	return &doom{kind: Stopped, silent: true, answer: environment(codeDied, "was stopped with its host")}
}

// stop ends a process in good order: it sees the end of its input, and has some time to leave before it is killed. One that
// is not greeted yet is killed at once.
func (h *Host) stop(p *process, d *doom) {
	if p.doom != nil {
		p.doom.silent = p.doom.silent || d.silent
		return
	}
	if p.out == nil {
		h.doom(p, d)
		return
	}
	p.doom, p.stopBy = d, time.Now().Add(h.options.StopLimit)
	p.cart.phase = dying
	p.cancel()
	go p.leave()
}

// leave lets a process leave, and kills it when it does not.
func (p *process) leave() {
	ctx, cancel := context.WithDeadline(context.Background(), p.stopBy)
	defer cancel()
	p.out.Finish(ctx)
	select {
	case <-p.link.Done():
	case <-p.gone:
	case <-ctx.Done():
		p.link.Kill()
	}
}

// stopAll stops all processes, and lets no new one start. What it returns waits for their end.
func (h *Host) stopAll() (wait func()) {
	h.stopping = true
	var all []*process
	for p := range h.processes {
		h.stop(p, stopped())
		all = append(all, p)
	}
	return func() {
		for _, p := range all {
			<-p.gone
		}
	}
}

// Close ends Run and stops all cartridges. It returns when no process of the host is left and Run has returned. It may be
// called again, but not by an Observer, which Run waits for.
func (h *Host) Close() error {
	h.mu.Lock()
	h.closed = true
	if h.relay != nil {
		go h.relay.fail(ErrClosed)
	}
	h.disarm()
	wait := h.stopAll()
	h.unlock()
	wait()
	h.runs.Wait()
	return nil
}

// Kill kills the process of a cartridge. Its requests end with the code, attribution and message of the reason; the next
// one starts it again. It returns false when no such cartridge runs.
func (h *Host) Kill(i manifest.Install, reason frame.CancelReason) bool {
	return h.kill(i, func() *doom { return cancelled(reason) })
}

// KillOutOfMemory is Kill for one who watches memory: requests end with OOM_KILLED, which is the fault of the resources. The
// message goes on from the name of the cartridge, such as "used more than 4 GiB".
func (h *Host) KillOutOfMemory(i manifest.Install, message string) bool {
	if message == "" {
		message = "used too much memory"
	}
	return h.kill(i, func() *doom {
		return &doom{kind: Died, answer: answer{codeOutOfMemory, frame.AttributionResource, message}}
	})
}

func (h *Host) kill(i manifest.Install, why func() *doom) (found bool) {
	h.mu.Lock()
	defer h.unlock()
	for p := range h.processes {
		if p.cart.install == i && p.doom == nil {
			h.doom(p, why())
			found = true
		}
	}
	return found
}
