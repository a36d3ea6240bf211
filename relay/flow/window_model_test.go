package flow

import (
	"errors"
	"fmt"
	"testing"
)

// A windowTwin knows the fate of every CHUNK of a stream, in order of arrival.
type windowTwin struct {
	initial  int
	arrived  int // CHUNKs that came
	consumed int // of them
	granted  int // of those
}

func (t *windowTwin) mayArrive() bool { return t.arrived < t.initial+t.granted }

func (t *windowTwin) batch() int { return max(1, t.initial/2) }

// A creditLink is a sender and a receiver of one stream. What is on the way arrives in order.
type creditLink struct {
	program
	gate    *Gate
	window  *Window
	twin    windowTwin
	initial int // credit of the sender, at most that of the receiver
	chunks  int // on the way to the receiver
	credit  int // on the way to the sender
}

// runLink runs a program until its end, and then until the link is at rest. It returns an error
// when the window is not like its twin, the sender is stopped for good, or it overruns.
func runLink(code []byte) (steps int, err error) {
	l := &creditLink{program: program{code: code}}
	l.twin.initial = 1 + int(l.byte()%40)
	l.initial = 1 + int(l.byte())%l.twin.initial
	l.gate, l.window = NewGate(uint64(l.initial)), NewWindow(uint64(l.twin.initial))
	for ; !l.done(); steps++ {
		if err := l.step(l.byte()); err != nil {
			return steps, fmt.Errorf("step %d: %w", steps, err)
		}
	}
	return steps, l.rest()
}

const (
	send = iota
	arrive
	consume
	continuePiece
	flush
	deliverCredit
	overrun
	numLinkSteps
)

func (l *creditLink) step(code byte) error {
	switch code % numLinkSteps {
	case send:
		if l.gate.TryAcquire(1) {
			l.chunks++
		}
	case arrive:
		if l.chunks > 0 {
			l.chunks--
			return l.arrive()
		}
	case consume:
		return l.consume()
	case continuePiece:
		want := 0
		if l.twin.consumed < l.twin.arrived {
			want = 1
			l.twin.consumed++
			l.twin.granted++
		}
		return l.grant("Continue", int(l.window.Continue()), want)
	case flush:
		return l.flush()
	case deliverCredit:
		l.gate.Grant(uint64(l.credit))
		l.credit = 0
	case overrun:
		if !l.twin.mayArrive() {
			return l.arrive()
		}
	}
	return nil
}

func (l *creditLink) arrive() error {
	var want error
	if l.twin.mayArrive() {
		l.twin.arrived++
	} else {
		want = ErrCreditViolation
	}
	if err := l.window.Arrive(); !errors.Is(err, want) || want == nil && err != nil {
		return fmt.Errorf("Arrive = %v, want %v", err, want)
	}
	return nil
}

func (l *creditLink) consume() error {
	want := 0
	if l.twin.consumed < l.twin.arrived {
		l.twin.consumed++
		if pending := l.twin.consumed - l.twin.granted; pending >= l.twin.batch() {
			want = pending
			l.twin.granted = l.twin.consumed
		}
	}
	return l.grant("Consume", int(l.window.Consume()), want)
}

func (l *creditLink) flush() error {
	want := l.twin.consumed - l.twin.granted
	l.twin.granted = l.twin.consumed
	return l.grant("Flush", int(l.window.Flush()), want)
}

func (l *creditLink) grant(what string, got, want int) error {
	if got != want {
		return fmt.Errorf("%s() = %d, want %d", what, got, want)
	}
	l.credit += got
	return nil
}

// rest lets everything arrive, be consumed and be granted, and sends some more.
func (l *creditLink) rest() error {
	for range 3 * l.twin.initial {
		for l.chunks > 0 {
			l.chunks--
			if err := l.window.Arrive(); err != nil {
				return fmt.Errorf("of a sender with credit: %w", err)
			}
			l.twin.arrived++
		}
		for l.twin.consumed < l.twin.arrived {
			if err := l.consume(); err != nil {
				return err
			}
		}
		if err := l.flush(); err != nil { // the receiver is about to wait
			return err
		}
		l.step(deliverCredit)
		if got := l.gate.Available(); got != uint64(l.initial) {
			return fmt.Errorf("the sender has credit for %d at rest, want %d", got, l.initial)
		}
		l.step(send)
	}
	return nil
}

func TestWindowsAreLikeTheirTwinAndNeverStopASender(t *testing.T) {
	r := random(t)
	for steps := 0; steps < modelSteps()*4/10; {
		n, err := runLink(randomCode(r, r.IntN(3000)))
		if err != nil {
			t.Fatal(err)
		}
		steps += n
	}
}
