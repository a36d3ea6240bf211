package host

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/cosim-go/cosim/relay/bridge"
	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/internal/pipe"
)

// Run serves the switch at the other end of socket, by a slave of its own, until the relay ends; then it stops
// all cartridges, unless options say Stay, and returns when no process is left. It owns socket. It returns nil when the
// switch has ended the relay, the cause of ctx when that has ended, and else what ended it. It can be called again, when it
// has returned.
func (h *Host) Run(ctx context.Context, socket io.ReadWriteCloser) error {
	near, far := pipe.New(0)
	defer near.Close()
	r, first, err := h.join(near, false)
	if err != nil {
		socket.Close()
		return err
	}
	defer h.runs.Done()
	slave := bridge.NewSlave(far, &bridge.SlaveOptions{
		Unnumbered: h.options.Unnumbered, OnState: h.takeState, Logger: h.options.Logger,
	})
	carrying, cut := context.WithCancelCause(ctx)
	defer cut(nil)
	carried := make(chan error, 1)
	go func() { carried <- slave.Run(carrying, socket, &first) }()

	err = r.read(ctx)
	if err != nil {
		cut(err)
	}
	h.leave(r, err)
	timer := time.AfterFunc(h.options.StopLimit, func() { cut(errCut) })
	defer timer.Stop()
	if err := <-carried; !errors.Is(err, errCut) {
		return err
	}
	return nil
}

// errCut ends a slave whose switch has ended the relay and does not take what is left.
var errCut = errors.New("the switch does not take the rest")

// RunBehind is Run for a slave of the caller's, at the other end of local, which it owns. The newest payload of
// state, which may be nil, is what cartridges are told; it is the slave's.
func (h *Host) RunBehind(ctx context.Context, local io.ReadWriteCloser, state *bridge.State) error {
	r, _, err := h.join(local, true)
	if err != nil {
		local.Close()
		return err
	}
	defer h.runs.Done()
	watching, stop := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		h.watchState(watching, state)
	}()
	err = r.read(ctx)
	stop()
	<-watched
	h.leave(r, err)
	return err
}

// watchState takes in the payloads that come for a slave.
func (h *Host) watchState(ctx context.Context, state *bridge.State) {
	if state == nil {
		return
	}
	for version := uint64(0); ; {
		payload, newest, err := state.Wait(ctx, version)
		if err != nil {
			return
		}
		h.takeState(payload)
		version = newest
	}
}

// join makes a connection the host's relay, and returns what is to be announced first; with announce, that is sent.
func (h *Host) join(local io.ReadWriteCloser, announce bool) (*relay, frame.Notify, error) {
	h.mu.Lock()
	defer h.unlock()
	if h.index == nil {
		h.rebuild()
	}
	switch {
	case h.closed:
		return nil, frame.Notify{}, ErrClosed
	case h.joined:
		return nil, frame.Notify{}, ErrBusy
	case len(h.table) == 0 && !h.options.AllowEmpty:
		return nil, frame.Notify{}, ErrNothing
	}
	h.joined = true
	h.runs.Add(1)
	h.relay = newRelay(h, local)
	if announce {
		h.announce()
	}
	return h.relay, h.notify(), nil
}

// leave ends a relay: what was to be sent is sent, unless an error ended it, and cartridges are stopped.
func (h *Host) leave(r *relay, err error) {
	h.mu.Lock()
	h.relay, h.stale = nil, false
	h.abandon()
	if h.options.Stay && !h.closed {
		h.unlock()
		r.finish(err, h.options.StopLimit)
	} else {
		waits := h.stopAll()
		h.unlock()
		r.finish(err, h.options.StopLimit)
		waits()
	}
	h.mu.Lock()
	h.joined = false
	h.stopping = h.closed
	h.unlock()
}

// finish ends the connection to the slave.
func (r *relay) finish(err error, limit time.Duration) {
	if err != nil {
		r.out.Close()
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	r.out.Finish(ctx)
}

// abandon forgets all requests: nobody can take what comes of them. Cartridges that stay are told to end them.
func (h *Host) abandon() {
	reason := frame.CancelReason{Code: []byte(codeAborted), Attribution: frame.AttributionEnvironment, Message: []byte("the relay to the switch has ended")}
	for k, req := range h.incoming {
		h.tables.release(req)
		if h.options.Stay {
			h.sendCancel(req.owner, k, reason)
		}
	}
	for _, call := range h.outgoing {
		h.releaseCall(call)
		if p := call.owner.process; h.options.Stay && call.owner.phase == running {
			f := environment(codeAborted, "%s", reason.Message).frame(flow.Key{RID: call.id})
			p.send(&f)
		}
	}
	clear(h.flows)
}
