package outbox_test

import (
	"io"
	"testing"
	"testing/synctest"

	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/internal/outbox"
	"github.com/cosim-go/cosim/relay/relaytest"
)

// feed sends a frame for a source.
func feed(t *testing.T, o *outbox.Outbox, s *outbox.Source, size int) {
	t.Helper()
	if err := o.Send(log(frame.Number(1), size)); err != nil {
		t.Fatal(err)
	}
	s.Sent(size)
	o.Flush()
}

// A source that floods a blocked outbox waits alone: others go on as long as they have little
// there, and it goes on when half of its own is written.
func TestAFloodingSourceWaitsAlone(t *testing.T) {
	inMemory(t, func(t *testing.T, near, far relaytest.Conn) {
		o := outbox.New(near, nil)
		flood, calm := o.NewSource(1<<20), o.NewSource(1<<20)
		room := make(chan error, 1)
		go func() {
			for range 30 {
				feed(t, o, flood, 100_000)
				if err := flood.Room(t.Context()); err != nil {
					room <- err
					return
				}
			}
			room <- nil
		}()
		synctest.Wait()
		if sent := o.Queued(); sent < 1<<20-100_000 || sent > 1<<20+200_000 {
			t.Errorf("the flood queued %d bytes, want about %d", sent, 1<<20)
		}
		for range 10 { // would wait for ever
			feed(t, o, calm, 50_000)
			if err := calm.Room(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		piece := make([]byte, 32<<10)
		for len(room) == 0 {
			if _, err := io.ReadFull(far, piece); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		if err := <-room; err != nil {
			t.Error(err)
		}
		o.Close()
	})
}

// What others queue behind the bytes of a source does not keep the source waiting.
func TestASourceDoesNotWaitForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := relaytest.BufferedPipe(1)
		defer far.Close()
		o := outbox.New(near, nil)
		s, other := o.NewSource(100_000), o.NewSource(0)
		feed(t, o, s, 60_000)
		feed(t, o, s, 60_000)
		for range 20 {
			feed(t, o, other, 60_000)
		}
		room := make(chan error, 1)
		go func() { room <- s.Room(t.Context()) }()
		synctest.Wait()
		if len(room) > 0 {
			t.Fatal("Room returned with 120000 bytes queued")
		}
		if _, err := io.CopyN(io.Discard, far, 200_000); err != nil {
			t.Fatal(err)
		}
		if err := <-room; err != nil {
			t.Error(err)
		}
		if n := o.Queued(); n < 1_000_000 {
			t.Errorf("Room returned with %d bytes queued, want those of the others", n)
		}
		o.Close()
	})
}

// Many small frames of a source are accounted for, and forgotten when they are written.
func TestASourceOfManySmallFrames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := relaytest.BufferedPipe(1)
		defer far.Close()
		o := outbox.New(near, nil)
		s := o.NewSource(100_000)
		for range 1001 {
			feed(t, o, s, 100)
		}
		room := make(chan error, 1)
		go func() { room <- s.Room(t.Context()) }()
		synctest.Wait()
		if len(room) > 0 {
			t.Fatal("Room returned with 100100 bytes queued")
		}
		if _, err := io.CopyN(io.Discard, far, 90_000); err != nil {
			t.Fatal(err)
		}
		if err := <-room; err != nil {
			t.Error(err)
		}
		o.Close()
	})
}

func TestASourceLearnsThatItsOutboxDied(t *testing.T) {
	inMemory(t, func(t *testing.T, near, _ relaytest.Conn) {
		o := outbox.New(near, nil)
		s := o.NewSource(1000)
		fill(t, o)
		s.Sent(2000)
		room := make(chan error)
		go func() { room <- s.Room(t.Context()) }()
		synctest.Wait()
		o.Close()
		if err := <-room; err != outbox.ErrClosed {
			t.Errorf("Room = %v, want %v", err, outbox.ErrClosed)
		}
		s.Sent(2000)
		if err := s.Room(t.Context()); err != outbox.ErrClosed {
			t.Errorf("Room of a dead outbox = %v, want %v", err, outbox.ErrClosed)
		}
	})
}

// What a source has waiting, and whether that is too much, can be asked without waiting.
func TestASourceTellsWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := relaytest.Pipe()
		defer far.Close()
		o := outbox.New(near, nil)
		defer o.Close()
		s := o.NewSource(100_000)
		check := func(when string, waits, room bool) {
			t.Helper()
			synctest.Wait()
			if got := s.Waits(); got != waits {
				t.Errorf("%s: Waits() = %v, want %v", when, got, waits)
			}
			if got := s.HasRoom(); got != room {
				t.Errorf("%s: HasRoom() = %v, want %v", when, got, room)
			}
		}
		check("before anything", false, true)
		feed(t, o, s, 60_000)
		check("with little", true, true)
		feed(t, o, s, 60_000)
		check("with much", true, false)
		go io.Copy(io.Discard, far)
		check("when all is written", false, true)
	})
}
