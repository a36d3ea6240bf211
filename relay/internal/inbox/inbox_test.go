package inbox_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/internal/inbox"
)

func chunk(index uint64, size int) *frame.Frame {
	return &frame.Frame{
		Type: frame.TypeChunk, ID: frame.Number(1), Payload: bytes.Repeat([]byte{byte(index)}, size),
		ChunkIndex: frame.Some(index), Checksum: frame.Some[uint64](0),
	}
}

func body(t testing.TB, f *frame.Frame) []byte {
	t.Helper()
	b, err := f.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// expect expects the chunk of an index.
func expect(t *testing.T, f *frame.Frame, err error, index uint64, size int) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if f.ChunkIndex.Or(99) != index || !bytes.Equal(f.Payload, bytes.Repeat([]byte{byte(index)}, size)) {
		t.Fatalf("Next = chunk %d of %d bytes, want chunk %d of %d", f.ChunkIndex.Or(99), len(f.Payload), index, size)
	}
}

// What comes out of an inbox is what a simple queue holds.
func TestAnInboxHandsOutWhatItTook(t *testing.T) {
	sizes := []int{0, 1, 500, 600, 4096, 5000, 30_000, 262_144}
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 5))
		const limit = 1 << 20
		b := inbox.New(limit)
		held, index := 0, uint64(0)
		var waiting []*frame.Frame
		for range 300 {
			if r.IntN(2) == 0 {
				f := chunk(index, sizes[r.IntN(len(sizes))])
				in := body(t, f)
				fits := held+len(in) <= limit
				var err error
				if r.IntN(2) == 0 {
					err = b.Put(in)
					clear(in)
				} else {
					err = b.PutFrame(f)
				}
				if fits != (err == nil) || err != nil && err != inbox.ErrFull {
					t.Fatalf("with %d bytes held, a body of %d: %v", held, len(in), err)
				}
				if fits {
					waiting, held, index = append(waiting, f), held+len(in), index+1
				}
				continue
			}
			f, ok := b.TryNext()
			if ok != (len(waiting) > 0) {
				t.Fatalf("TryNext = %v with %d frames", ok, len(waiting))
			}
			if ok {
				want := waiting[0]
				expect(t, f, nil, want.ChunkIndex.Or(0), len(want.Payload))
				waiting, held = waiting[1:], held-len(body(t, want))
			}
		}
	}
}

// A frame stays as it is until the next one is asked for, whatever is put meanwhile, and also
// when the inbox is dropped.
func TestABorrowedFrameStays(t *testing.T) {
	b := inbox.New(0)
	other := inbox.New(0)
	for i := range uint64(3) {
		if err := b.Put(body(t, chunk(i, 1000))); err != nil {
			t.Fatal(err)
		}
	}
	for i := range uint64(3) {
		f, err := b.Next(t.Context())
		for j := range uint64(40) {
			if err := b.Put(body(t, chunk(j, 1000))); err != nil {
				t.Fatal(err)
			}
			if err := other.Put(body(t, chunk(j, 1000))); err != nil {
				t.Fatal(err)
			}
		}
		if i == 2 {
			b.Drop()
			other.Drop()
			for range 400 { // take all buffers that are free
				taker := inbox.New(0)
				for j := range uint64(3) {
					if err := taker.Put(body(t, chunk(90+j, 1000))); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		expect(t, f, err, i, 1000)
	}
}

func TestNextWaitsForAFrame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := inbox.New(0)
		start := time.Now()
		for i := range uint64(100) {
			time.AfterFunc(time.Duration(i+1)*time.Second, func() {
				if err := b.Put(body(t, chunk(i, 10))); err != nil {
					t.Error(err)
				}
			})
		}
		time.AfterFunc(time.Hour, func() { b.Close(io.EOF) })
		for i := range uint64(100) {
			f, err := b.Next(t.Context())
			expect(t, f, err, i, 10)
			if passed, want := time.Since(start), time.Duration(i+1)*time.Second; passed != want {
				t.Fatalf("chunk %d came after %v, want %v", i, passed, want)
			}
		}
		if f, err := b.Next(t.Context()); err != io.EOF || f != nil {
			t.Errorf("Next = %v, %v, want %v", f, err, io.EOF)
		}
	})
}

// A writer and a reader that never wait for each other lose no wake-up.
func TestNoFrameIsMissed(t *testing.T) {
	b := inbox.New(0)
	const count = 20_000
	in := body(t, chunk(1, 10))
	go func() {
		for range count {
			if err := b.Put(in); err != nil {
				t.Error(err)
			}
		}
		b.Close(io.EOF)
	}()
	got := 0
	for {
		_, err := b.Next(t.Context())
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got++
	}
	if got != count {
		t.Errorf("%d frames, want %d", got, count)
	}
}

func TestNextEndsWithItsContextAndGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := inbox.New(0)
		cause := errors.New("cause")
		for i := range uint64(3) {
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(time.Second, func() { cancel(cause) })
			if _, err := b.Next(ctx); err != cause {
				t.Errorf("Next = %v, want %v", err, cause)
			}
			if err := b.Put(body(t, chunk(i, 1))); err != nil {
				t.Fatal(err)
			}
			f, err := b.Next(t.Context())
			expect(t, f, err, i, 1)
		}
		// A frame that is there comes before a context that has ended.
		if err := b.Put(body(t, chunk(9, 1))); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		f, err := b.Next(ctx)
		expect(t, f, err, 9, 1)
	})
}

// The context ends while a frame is put: the next wait is not ended by what woke this one.
func TestAContextThatEndsTogetherWithAFrame(t *testing.T) {
	for i := range uint64(500) {
		b := inbox.New(0)
		ctx, cancel := context.WithCancel(t.Context())
		in := body(t, chunk(i%100, 1))
		put := make(chan struct{})
		go func() {
			defer close(put)
			if err := b.Put(in); err != nil {
				t.Error(err)
			}
		}()
		go cancel()
		f, err := b.Next(ctx)
		if err == context.Canceled {
			<-put
			f, err = b.Next(t.Context())
		}
		expect(t, f, err, i%100, 1)
		<-put
		short, done := context.WithCancel(t.Context())
		go done()
		if f, err := b.Next(short); err != context.Canceled {
			t.Fatalf("Next of an empty inbox = %v, %v", f, err)
		}
	}
}

func TestCloseLeavesWhatIsThere(t *testing.T) {
	b := inbox.New(0)
	for i := range uint64(2) {
		if err := b.PutFrame(chunk(i, 10)); err != nil {
			t.Fatal(err)
		}
	}
	reason := errors.New("reason")
	b.Close(reason)
	b.Close(io.EOF)
	if err := b.Put(body(t, chunk(2, 1))); err != inbox.ErrClosed {
		t.Errorf("Put = %v, want %v", err, inbox.ErrClosed)
	}
	if err := b.PutFrame(chunk(2, 1)); err != inbox.ErrClosed {
		t.Errorf("PutFrame = %v, want %v", err, inbox.ErrClosed)
	}
	for i := range uint64(2) {
		f, err := b.Next(t.Context())
		expect(t, f, err, i, 10)
	}
	for range 2 {
		if _, err := b.Next(t.Context()); err != reason {
			t.Errorf("Next = %v, want %v", err, reason)
		}
	}
	if _, ok := b.TryNext(); ok {
		t.Error("TryNext = true at the end")
	}
}

func TestDropForgetsWhatIsThere(t *testing.T) {
	for name, want := range map[string]error{"open": inbox.ErrClosed, "closed": io.EOF} {
		b := inbox.New(1000)
		for i := range uint64(3) {
			if err := b.PutFrame(chunk(i, 100)); err != nil {
				t.Fatal(err)
			}
		}
		if name == "closed" {
			b.Close(io.EOF)
		}
		b.Drop()
		b.Drop()
		if err := b.PutFrame(chunk(3, 10)); err != inbox.ErrClosed {
			t.Errorf("%s: PutFrame = %v, want %v", name, err, inbox.ErrClosed)
		}
		if f, err := b.Next(t.Context()); err != want {
			t.Errorf("%s: Next = %v, %v, want %v", name, f, err, want)
		}
	}
}

func TestCloseAndDropWakeTheReader(t *testing.T) {
	for name, end := range map[string]func(*inbox.Inbox){
		"Close": func(b *inbox.Inbox) { b.Close(inbox.ErrClosed) },
		"Drop":  (*inbox.Inbox).Drop,
	} {
		synctest.Test(t, func(t *testing.T) {
			b := inbox.New(0)
			got := make(chan error)
			go func() {
				_, err := b.Next(t.Context())
				got <- err
			}()
			synctest.Wait()
			end(b)
			if err := <-got; err != inbox.ErrClosed {
				t.Errorf("%s: Next = %v, want %v", name, err, inbox.ErrClosed)
			}
		})
	}
}

func TestAFrameThatCannotBeEncodedIsNotTaken(t *testing.T) {
	b := inbox.New(0)
	bad := chunk(0, 10)
	bad.StreamID = []byte{0xff}
	if err := b.PutFrame(bad); !errors.Is(err, frame.ErrEncode) {
		t.Errorf("PutFrame = %v, want %v", err, frame.ErrEncode)
	}
	if f, ok := b.TryNext(); ok {
		t.Errorf("TryNext = %v", f)
	}
	if err := b.PutFrame(chunk(1, 5000)); err != nil {
		t.Fatal(err)
	}
	f, err := b.Next(t.Context())
	expect(t, f, err, 1, 5000)
}

// A meta with maps and arrays without a length may become longer, when it is encoded, than the
// room that was made for it.
func TestAMetaThatGrowsWhenItIsEncoded(t *testing.T) {
	// An array of 300 items of one byte has a head of three bytes, one without a length a head and
	// a break of two.
	const inner = 400
	meta := []byte{0xa1, 0x61, 'a', 0x99, inner >> 8, inner & 0xff}
	for range inner {
		meta = append(append(append(meta, 0x9f), make([]byte, 300)...), 0xff)
	}
	in := append(append([]byte{0xa5, 0, 4, 1, 5, 2, 1, 5}, meta...), 0x03, 0x00)
	var f frame.Frame
	if err := frame.Decode(in, &f); err != nil {
		t.Fatal(err)
	}
	if size := len(body(t, &f)); size <= len(in)+256 {
		t.Fatalf("the frame has %d bytes, and %d when it is encoded", len(in), size)
	}
	b := inbox.New(0)
	for i := range 5 {
		f.Seq = uint64(i)
		if err := b.PutFrame(&f); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 5 {
		f.Seq = uint64(i)
		want := body(t, &f)
		got, err := b.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got.Seq != uint64(i) || !bytes.Equal(body(t, got), want) {
			t.Errorf("frame %d has number %d", i, got.Seq)
		}
	}
}

func TestReleaseGivesBackABuffer(t *testing.T) {
	b := inbox.New(0)
	if err := b.PutFrame(chunk(0, 10)); err != nil {
		t.Fatal(err)
	}
	if _, ok := b.TryNext(); !ok {
		t.Fatal("no frame")
	}
	b.Release()
	b.Release()
	if err := b.PutFrame(chunk(1, 10)); err != nil {
		t.Fatal(err)
	}
	f, err := b.Next(t.Context())
	expect(t, f, err, 1, 10)
}
