package ours

import (
	"errors"
	"io"
	"sync"

	"github.com/cosim-go/cosim/relay/bench/internal/carry"
	"github.com/cosim-go/cosim/relay/bench/internal/load"
	"github.com/cosim-go/cosim/relay/bench/internal/pair"
	"github.com/cosim-go/cosim/relay/frame"
)

// Link carries a frame from a frame.Writer to a frame.Reader: encoded each time, decoded and checked each time.
func Link(item load.Item) (carry.Link, error) {
	f, err := frameOf(item)
	if err != nil {
		return nil, err
	}
	near, far, err := pair.New()
	if err != nil {
		return nil, err
	}
	return &link{f, frame.NewWriter(near, nil), frame.NewReader(far, nil), carry.CloseOnce(near, far)}, nil
}

type link struct {
	frame *frame.Frame
	w     *frame.Writer
	r     *frame.Reader
	close func() error
}

func (l *link) Send(n int) error {
	for range n {
		if err := l.w.Write(l.frame); err != nil {
			return err
		}
	}
	return l.w.Flush()
}

func (l *link) Receive(n int, see carry.See) error {
	for range n {
		if _, err := l.r.Next(); err != nil {
			return err
		}
		if see != nil {
			see(bodyOf(l.r))
		}
	}
	return nil
}

func (l *link) Close() error { return l.close() }

// bodyOf is the body of the reader's last frame.
func bodyOf(r *frame.Reader) []byte { return r.Wire()[4:] }

// Echo is a round trip over one socket pair. Each end encodes and decodes.
func Echo(tape load.Tape) (carry.Echo, error) {
	e := &echo{}
	for _, item := range tape.Items {
		f, err := frameOf(item)
		if err != nil {
			return nil, err
		}
		e.frames = append(e.frames, f)
	}
	near, far, err := pair.New()
	if err != nil {
		return nil, err
	}
	e.w, e.r = frame.NewWriter(near, nil), frame.NewReader(near, nil)
	e.close = carry.CloseOnce(near, far)
	e.far.Go(func() { e.err = reflect(frame.NewWriter(far, nil), frame.NewReader(far, nil)) })
	return e, nil
}

type echo struct {
	frames []*frame.Frame
	next   int
	w      *frame.Writer
	r      *frame.Reader
	close  func() error
	far    sync.WaitGroup
	err    error // of the far side; read after it ended
}

func (e *echo) Trip(see carry.See) error {
	f := e.frames[e.next]
	e.next = (e.next + 1) % len(e.frames)
	if err := send(e.w, f); err != nil {
		return err
	}
	_, err := e.r.Next()
	if see != nil && err == nil {
		see(bodyOf(e.r))
	}
	return err
}

func (e *echo) Close() error {
	err := e.close()
	e.far.Wait()
	return errors.Join(err, e.err)
}

func send(w *frame.Writer, f *frame.Frame) error {
	if err := w.Write(f); err != nil {
		return err
	}
	return w.Flush()
}

// reflect sends back what arrives until the stream ends.
func reflect(w *frame.Writer, r *frame.Reader) error {
	for {
		f, err := r.Next()
		if err == nil {
			err = send(w, f)
		}
		if err == io.EOF || errors.Is(err, frame.ErrIO) {
			return nil // the near side is gone
		}
		if err != nil {
			return err
		}
	}
}
