package outbox_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/internal/outbox"
	"github.com/cosim-go/cosim/relay/relaytest"
)

// inMemory runs a test in a bubble, over each kind of connection in memory.
func inMemory(t *testing.T, test func(t *testing.T, near, far relaytest.Conn)) {
	for _, transport := range relaytest.Transports() {
		if !transport.Memory {
			continue
		}
		t.Run(transport.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				near, far, err := transport.Open()
				if err != nil {
					t.Fatal(err)
				}
				defer near.Close()
				defer far.Close()
				test(t, near, far)
			})
		})
	}
}

func TestAFullOutboxWhoseLinkTakesNothingFails(t *testing.T) {
	inMemory(t, func(t *testing.T, near, _ relaytest.Conn) {
		start := time.Now()
		var failed []error
		o := outbox.New(near, &outbox.Options{MaxQueued: 10_000, Failed: func(err error) { failed = append(failed, err) }})
		fill(t, o)
		if err := o.Room(context.Background()); err != outbox.ErrStalled {
			t.Errorf("Room = %v, want %v", err, outbox.ErrStalled)
		}
		if passed := time.Since(start); passed != 10*time.Second {
			t.Errorf("stalled after %v, want 10s", passed)
		}
		synctest.Wait()
		if len(failed) != 1 || failed[0] != outbox.ErrStalled {
			t.Errorf("Failed(%v), want once with %v", failed, outbox.ErrStalled)
		}
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestABlockedOutboxThatIsNotFullWaitsForEver(t *testing.T) {
	inMemory(t, func(t *testing.T, near, far relaytest.Conn) {
		o := outbox.New(near, &outbox.Options{Failed: func(err error) { t.Errorf("Failed(%v)", err) }})
		fill(t, o)
		time.Sleep(time.Hour)
		go func() {
			if err := o.Finish(t.Context()); err != nil {
				t.Error(err)
			}
		}()
		if n := len(readAll(t, far)); n < 18 {
			t.Errorf("%d frames", n)
		}
	})
}

// A reader that takes a little every nine seconds is slow, not stalled.
func TestASlowLinkIsNotStalled(t *testing.T) {
	inMemory(t, func(t *testing.T, near, far relaytest.Conn) {
		o := outbox.New(near, &outbox.Options{MaxQueued: 10_000, Failed: func(err error) { t.Errorf("Failed(%v)", err) }})
		fill(t, o)
		piece := make([]byte, 32<<10)
		for range 20 {
			time.Sleep(9 * time.Second)
			if _, err := io.ReadFull(far, piece); err != nil {
				t.Fatal(err)
			}
		}
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestAnOutboxThatWasFullIsWatchedAgainWhenItIsFullAgain(t *testing.T) {
	inMemory(t, func(t *testing.T, near, far relaytest.Conn) {
		var failed error
		o := outbox.New(near, &outbox.Options{MaxQueued: 500_000, Stall: time.Second, Failed: func(err error) { failed = err }})
		piece := make([]byte, 900_000)
		for range 3 {
			fill(t, o)
			time.Sleep(900 * time.Millisecond)
			if _, err := io.ReadFull(far, piece); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			time.Sleep(time.Hour) // not full
		}
		if failed != nil {
			t.Fatalf("Failed(%v)", failed)
		}
		fill(t, o)
		time.Sleep(time.Second)
		synctest.Wait()
		if failed != outbox.ErrStalled {
			t.Errorf("Failed(%v), want %v", failed, outbox.ErrStalled)
		}
		o.Close()
	})
}

func TestACorkedOutboxDoesNotStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := relaytest.Pipe()
		defer far.Close()
		o := outbox.New(nil, &outbox.Options{Corked: true, MaxQueued: 1})
		fill(t, o)
		time.Sleep(time.Hour)
		if err := o.Send(log(frame.Number(1), 1)); err != nil {
			t.Errorf("Send = %v", err)
		}
		o.Uncork(near)
		start := time.Now()
		if err := o.Room(t.Context()); err != outbox.ErrStalled || time.Since(start) != 10*time.Second {
			t.Errorf("Room = %v after %v, want %v after 10s", err, time.Since(start), outbox.ErrStalled)
		}
		o.Close()
	})
}

func TestRoomWaitsUntilHalfIsFree(t *testing.T) {
	inMemory(t, func(t *testing.T, near, far relaytest.Conn) {
		o := outbox.New(near, &outbox.Options{MaxQueued: 400_000})
		fill(t, o)
		got := make(chan error, 1)
		go func() { got <- o.Room(t.Context()) }()
		piece := make([]byte, 32<<10)
		for len(got) == 0 {
			if !o.Full() && o.Queued() <= 200_000 {
				t.Fatalf("Room waits with %d bytes queued", o.Queued())
			}
			if _, err := io.ReadFull(far, piece); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		if err := <-got; err != nil {
			t.Error(err)
		}
		if n := o.Queued(); n > 200_000 {
			t.Errorf("Room returned with %d bytes queued", n)
		}
		o.Close()
	})
}

func TestRoomEndsWithItsContext(t *testing.T) {
	inMemory(t, func(t *testing.T, near, _ relaytest.Conn) {
		o := outbox.New(near, &outbox.Options{MaxQueued: 400_000})
		fill(t, o)
		s := o.NewSource(1000)
		s.Sent(500_000)
		cause := errors.New("cause")
		for _, room := range []func(context.Context) error{o.Room, s.Room} {
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(time.Second, func() { cancel(cause) })
			if err := room(ctx); err != cause {
				t.Errorf("Room = %v, want %v", err, cause)
			}
		}
		o.Close()
	})
}
