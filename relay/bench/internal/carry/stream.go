package carry

import (
	"errors"
	"io"
	"sync"

	"github.com/cosim-go/cosim/relay/bench/internal/load"
)

// A Stream is a connection that carries bytes: both its ends and what has to be closed with them.
type Stream struct {
	Near, Far io.ReadWriter
	Close     func() error // ends reads and writes that wait; may be called twice
}

// Link carries an item over the stream, from near to far, through a buffer on each side.
func (s Stream) Link(item load.Item) Link {
	return &streamLink{NewFramer(s.Near, s.Far), item.Body(), s.Close}
}

type streamLink struct {
	framer *Framer
	body   []byte
	close  func() error
}

func (l *streamLink) Send(n int) error {
	for range n {
		if err := l.framer.Write(l.body); err != nil {
			return err
		}
	}
	return l.framer.Flush()
}

func (l *streamLink) Receive(n int, see See) error {
	for range n {
		body, err := l.framer.Read()
		if err != nil {
			return err
		}
		if see != nil {
			see(body)
		}
	}
	return nil
}

func (l *streamLink) Close() error { return l.close() }

// Echo sends a tape's frames over the stream and back. Each is one write, length and body together.
func (s Stream) Echo(tape load.Tape) Echo {
	e := &streamEcho{items: tape.Items, w: s.Near, framer: NewFramer(s.Near, s.Near), close: s.Close}
	e.far.Go(func() { e.err = reflect(NewFramer(s.Far, s.Far)) })
	return e
}

type streamEcho struct {
	items  []load.Item
	next   int
	w      io.Writer
	framer *Framer // for reading
	close  func() error
	far    sync.WaitGroup
	err    error // of the far side; read after it ended
}

func (e *streamEcho) Trip(see See) error {
	item := &e.items[e.next]
	e.next = (e.next + 1) % len(e.items)
	if _, err := e.w.Write(item.Wire); err != nil {
		return err
	}
	body, err := e.framer.Read()
	if see != nil && err == nil {
		see(body)
	}
	return err
}

func (e *streamEcho) Close() error {
	err := e.close()
	e.far.Wait()
	return errors.Join(err, e.err)
}

// reflect sends back what arrives until the stream ends or is closed.
func reflect(f *Framer) error {
	for {
		body, err := f.Read()
		if err != nil {
			return unlessClosed(err)
		}
		if err = f.Write(body); err == nil {
			err = f.Flush()
		}
		if err != nil {
			return unlessClosed(err)
		}
	}
}
