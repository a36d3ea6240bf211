package host

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/internal/outbox"
)

// A relay is the host's end of a connection to a slave.
type relay struct {
	h      *Host
	local  io.ReadWriteCloser
	in     *frame.Reader
	out    *outbox.Outbox
	notes  *outbox.Source // announcements
	held   int            // frames of a flow that the slave holds
	fed    []*outbox.Outbox
	since  int // bytes since what they have caused was sent
	closed func()

	failing sync.Once
	failure error // that ends it; valid once failed is closed
	failed  chan struct{}
}

func newRelay(h *Host, local io.ReadWriteCloser) *relay {
	r := &relay{h: h, local: local, failed: make(chan struct{}), held: int(h.options.Limits.MaxReorderBuffer)}
	r.closed = sync.OnceFunc(func() { local.Close() })
	r.in = frame.NewReader(local, &frame.ReaderOptions{Idle: r.idle})
	r.out = outbox.New(local, &outbox.Options{Manual: true, Failed: r.fail})
	r.notes = r.out.NewSource(1)
	return r
}

// fail ends the relay for a reason. The first one counts.
func (r *relay) fail(err error) {
	r.failing.Do(func() {
		r.failure = err
		close(r.failed)
	})
	r.closed()
}

// idle sends what the frames so far have caused. It runs before the reader waits.
func (r *relay) idle() error {
	r.fed, r.since = r.h.flush(r.fed), 0
	return nil
}

// read handles frames until the relay ends, which is no error, or something ends it.
func (r *relay) read(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { r.fail(context.Cause(ctx)) })
	defer stop()
	for {
		head, err := r.in.NextHead()
		if err == nil {
			err = r.handle(head)
		}
		if err == nil {
			continue
		}
		r.idle()
		select {
		case <-r.failed:
			return r.failure
		default:
		}
		if errors.Is(err, io.EOF) && !errors.Is(err, frame.ErrUnexpectedEOF) {
			return nil
		}
		return err
	}
}

func (r *relay) handle(head *frame.Head) error {
	h := r.h
	h.mu.Lock()
	err := r.take(head)
	if len(h.events) == 0 {
		h.mu.Unlock()
	} else {
		h.unlock()
	}
	if r.since += len(r.in.Wire()); r.since >= flushSize {
		r.idle()
	}
	return err
}

// body returns the body of the frame that was read last.
func (r *relay) body() []byte { return r.in.Wire()[frame.PrefixSize:] }
