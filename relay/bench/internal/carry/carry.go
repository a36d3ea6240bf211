// Package carry drives what carries frames: links, echoes and bridges. Every contender is driven in the same way.
package carry

import (
	"github.com/cosim-go/cosim/relay/bench/internal/load"
	"github.com/cosim-go/cosim/relay/bench/internal/measure"
)

// See is shown the body of each frame that arrived; it does not keep it. Nil while measuring.
type See func(body []byte)

// A Link carries one frame over and over, one way. Send and Receive run at the same time, each on one goroutine.
type Link interface {
	// Send sends the frame n times, as densely as it can, and leaves nothing in a buffer.
	Send(n int) error
	// Receive returns when n frames have arrived.
	Receive(n int, see See) error
	// Close ends both and waits for the link's goroutines. It may be called twice.
	Close() error
}

// OpenLink makes a link that carries an item.
type OpenLink func(item load.Item) (Link, error)

// NewLink is a contender for carrying an item one way.
func NewLink(name string, kind measure.Kind, open OpenLink, item load.Item) measure.Contender {
	return measure.Contender{Name: name, Kind: kind, Open: func() (measure.Runner, error) {
		link, err := open(item)
		return linkRunner{link}, err
	}}
}

type linkRunner struct{ Link }

// Run sends and receives n frames at once.
func (r linkRunner) Run(n int) error { return Transfer(r.Link, n, nil) }

// Transfer sends and receives n frames at once.
func Transfer(link Link, n int, see See) error {
	return both(link, func() error { return link.Send(n) }, func() error { return link.Receive(n, see) })
}

// both runs two ends at the same time. The end that fails closes the link, so that the other ends too, and its
// error is the one that counts.
func both(link interface{ Close() error }, here, there func() error) error {
	errs := make(chan error, 2)
	end := func(f func() error) {
		err := f()
		errs <- err
		if err != nil {
			link.Close()
		}
	}
	go end(here)
	end(there)
	first, second := <-errs, <-errs
	if first != nil {
		return first
	}
	return second
}

// An Echo sends a frame and waits until the same comes back.
type Echo interface {
	// Trip is one round trip; the next frame of the tape is the next trip's.
	Trip(see See) error
	// Close ends the far side and waits for it.
	Close() error
}

// OpenEcho makes an echo for the frames of a tape.
type OpenEcho func(tape load.Tape) (Echo, error)

// NewEcho is a contender for round trips of a tape's frames.
func NewEcho(name string, kind measure.Kind, open OpenEcho, tape load.Tape) measure.Contender {
	return measure.Contender{Name: name, Kind: kind, Open: func() (measure.Runner, error) {
		echo, err := open(tape)
		return echoRunner{echo}, err
	}}
}

type echoRunner struct{ Echo }

// Run makes n round trips, one after the other.
func (r echoRunner) Run(n int) error {
	for range n {
		if err := r.Trip(nil); err != nil {
			return err
		}
	}
	return nil
}
