package call

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"syscall"

	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/internal/stream"
)

// inlineSize is how many bytes of arguments are sent by Start itself when they need no wait: starting a goroutine
// would take longer.
const inlineSize = 64 << 10

// readChunks is how many CHUNKs of a body are read at once, at most. So many are hashed at the same time.
const readChunks = 4

// fits reports whether arguments can be sent without waiting for credit, or for a reader.
func fits(args []Arg, l frame.Limits) bool {
	chunk := stream.ChunkSize(l)
	total := 0
	for i := range args {
		size, ok := ready(args[i].Body)
		if !ok || args[i].Items != nil || uint64(size/chunk) >= l.InitialCredit {
			return false
		}
		total += size
	}
	return total <= inlineSize
}

// A body is the arguments of a request while they are sent.
type body struct {
	call *Call
	left atomic.Int32 // what is still to be sent before the END: the feeds, and the row of all others
}

// send sends the arguments in their order, those without an end beside the others, and then the END.
func (c *Call) send(args []Arg) {
	b := &body{call: c}
	b.left.Store(1)
	b.done(b.row(args))
}

// row sends what has an end, one after the other.
func (b *body) row(args []Arg) error {
	for i := range args {
		s := &sender{call: b.call, arg: &args[i], number: i}
		if err := s.begin(); err != nil {
			return err
		}
		if args[i].Unbounded {
			b.left.Add(1)
			b.call.spawn(func() { b.done(s.run()) })
			continue
		}
		if err := s.run(); err != nil {
			return err
		}
	}
	return nil
}

// done says that a feed, or the row, was sent. The last one sends the END. An error that does not merely say that the
// request has ended is the request's.
func (b *body) done(err error) {
	c := b.call
	switch {
	case err != nil:
	case b.left.Add(-1) == 0:
		end := frame.NewBodyEnd(c.link.ID())
		err = c.link.Send(c.life, &end)
	default:
		c.flush() // others may send nothing for long
	}
	if err == nil || errors.Is(err, ErrEnded) || c.life.Err() != nil {
		return
	}
	c.fail(err, reasonOf(err))
}

// A sender sends one argument. Between its begin and its end the goroutine is busy, except in code of the caller.
type sender struct {
	call    *Call
	arg     *Arg
	number  int
	out     *stream.Out
	waiting bool // counted in call.waiters
}

// begin sends the STREAM_START.
func (s *sender) begin() error {
	c := s.call
	gate := c.gates.Open(argID(s.number), c.limits.InitialCredit)
	s.out = stream.NewOut(s, gate, s.arg.start(c.link.ID(), s.number), c.limits)
	return s.out.Start(c.life)
}

// run sends the argument and its STREAM_END.
func (s *sender) run() error {
	defer s.proceed()
	var err error
	if s.arg.Items != nil {
		err = s.items()
	} else {
		err = s.scalar()
	}
	if err != nil {
		return err
	}
	s.call.gates.Forget(argID(s.number))
	return s.out.End(s.call.life)
}

// Queue sends a frame of the argument.
func (s *sender) Queue(ctx context.Context, f *frame.Frame) error {
	s.proceed()
	if s.call.batcher != nil {
		return s.call.batcher.Queue(ctx, f)
	}
	return s.call.link.Send(ctx, f)
}

// Flush says that the sender may wait now: until it proceeds, whatever is consumed of the response is granted at
// once.
func (s *sender) Flush() {
	if !s.waiting {
		s.waiting = true
		s.call.waiters.Add(1)
	}
	s.call.flush()
}

func (s *sender) proceed() {
	if s.waiting {
		s.waiting = false
		s.call.waiters.Add(-1)
	}
}

// scalar sends the body.
func (s *sender) scalar() error {
	size, ready := ready(s.arg.Body)
	var err error
	switch to, ok := s.arg.Body.(io.WriterTo); {
	case s.arg.Body == nil:
	case ready && size == 0:
	case ready:
		_, err = to.WriteTo(scalarWriter{s})
	case ok && !isFile(s.arg.Body):
		err = s.apart(func() error {
			_, err := to.WriteTo(apartWriter{s})
			return s.readError(err)
		})
	default:
		err = s.read()
	}
	if err == nil && s.out.Sent() == 0 && !s.arg.Unbounded {
		err = s.out.Scalar(s.call.life, nil)
	}
	return err
}

// isFile reports whether a reader is one whose WriteTo copies in small pieces: a file or a socket.
func isFile(in io.Reader) bool {
	_, ok := in.(syscall.Conn)
	return ok
}

// read sends what Read returns.
func (s *sender) read() error {
	buf := make([]byte, readChunks*min(stream.ChunkSize(s.call.limits), frame.DefaultMaxChunk))
	for {
		var n int
		var end error
		if err := s.apart(func() error { n, end = s.arg.Body.Read(buf); return nil }); err != nil {
			return err
		}
		if n > 0 {
			if err := s.out.Scalar(s.call.life, buf[:n]); err != nil {
				return err
			}
		}
		if end == io.EOF {
			return nil
		}
		if end != nil {
			return s.readError(end)
		}
	}
}

// items sends the sequence.
func (s *sender) items() error {
	return s.apart(func() error {
		for item, err := range s.arg.Items {
			if err == nil {
				err = s.within(func() error { return s.out.Item(s.call.life, item) })
			}
			if err != nil {
				return s.readError(err)
			}
		}
		return nil
	})
}

// apart runs code of the caller, which may wait. It fails when the call was closed meanwhile.
func (s *sender) apart(f func() error) error {
	s.Flush()
	s.call.leave()
	err := f()
	if closed := s.call.rejoin(); closed != nil {
		return closed
	}
	return err
}

// within is for what the caller's code does with the call.
func (s *sender) within(f func() error) error {
	if err := s.call.enter(); err != nil {
		return &sendError{err}
	}
	defer s.call.leave()
	if err := f(); err != nil {
		return &sendError{err}
	}
	s.Flush()
	return nil
}

// A sendError is an error of the request that passes through code of the caller.
type sendError struct{ error }

func (e *sendError) Unwrap() error { return e.error }

// readError tells an error of the caller's own from one of the request.
func (s *sender) readError(err error) error {
	var e *sendError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e):
		return e.error
	}
	return &argError{s.number, err}
}

// A scalarWriter sends what is written to it.
type scalarWriter struct{ *sender }

func (w scalarWriter) Write(p []byte) (int, error) {
	if err := w.out.Scalar(w.call.life, p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// An apartWriter is a scalarWriter for code of the caller.
type apartWriter struct{ *sender }

func (w apartWriter) Write(p []byte) (int, error) {
	if err := w.within(func() error { return w.out.Scalar(w.call.life, p) }); err != nil {
		return 0, err
	}
	return len(p), nil
}
