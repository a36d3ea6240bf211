package frame_test

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/cosim-go/cosim/relay/frame"
)

// TestWriterTakesFramesWhileItWrites shows that nobody waits for a write of somebody else as
// long as the buffer has room, and everybody does when it has none.
func TestWriterTakesFramesWhileItWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &sink{gate: make(chan struct{}), entered: make(chan struct{}, 1)}
		w := frame.NewWriter(out, nil)
		large, small := chunk(64<<10), chunk(30_000)
		wrote := make(chan struct{})
		go func() {
			defer close(wrote)
			write(t, w, large)
		}()
		<-out.entered // the large frame is being written
		write(t, w, small, small, small)
		blocked := make(chan struct{})
		go func() {
			defer close(blocked)
			write(t, w, small)
		}()
		synctest.Wait()
		select {
		case <-blocked:
			t.Error("a frame was taken although more than 64 KiB wait")
		default:
		}
		go func() {
			for range out.entered {
			}
		}()
		close(out.gate)
		<-wrote
		<-blocked
		flush(t, w)
		close(out.entered)
		want := wire(encoded(t, &large))
		for range 4 {
			want = append(want, wire(encoded(t, &small))...)
		}
		if !bytes.Equal(out.bytes(), want) {
			t.Error("the stream is not the frames in the order of Write")
		}
	})
}

func TestFlushWaitsForTheWriteOfAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &sink{gate: make(chan struct{}), entered: make(chan struct{}, 8)}
		w := frame.NewWriter(out, nil)
		large, small := chunk(64<<10), chunk(10)
		go w.Write(&large)
		<-out.entered
		write(t, w, small)
		const waiters = 5
		flushed := make(chan error, waiters)
		for range waiters {
			go func() { flushed <- w.Flush() }()
		}
		synctest.Wait()
		select {
		case <-flushed:
			t.Error("Flush returned while the frame waits")
		default:
		}
		close(out.gate)
		for range waiters {
			if err := <-flushed; err != nil {
				t.Errorf("Flush = %v", err)
			}
		}
		if !bytes.HasSuffix(out.bytes(), wire(encoded(t, &small))) {
			t.Error("Flush returned before the frame was on the stream")
		}
	})
}

func TestFlushReturnsWhenTheStreamFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &sink{gate: make(chan struct{}), entered: make(chan struct{}, 8), err: io.ErrClosedPipe}
		w := frame.NewWriter(out, nil)
		large, small := chunk(64<<10), chunk(10)
		go w.Write(&large)
		<-out.entered
		write(t, w, small)
		flushed := make(chan error, 1)
		go func() { flushed <- w.Flush() }()
		synctest.Wait()
		close(out.gate)
		if err := <-flushed; !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("Flush = %v, want the error of the stream", err)
		}
	})
}

// TestConcurrentWritersNeverTearFrames has many writers on one socket.
//
// Requirement: R1
func TestConcurrentWritersNeverTearFrames(t *testing.T) {
	const writers, frames = 6, 200
	near, far := socketPair(t)
	w := frame.NewWriter(near, nil)
	var group sync.WaitGroup
	for n := range writers {
		group.Go(func() { writeMany(t, w, uint64(n), frames) })
	}
	go func() {
		group.Wait()
		w.Flush()
		near.CloseWrite()
	}()
	next := map[frame.ID]uint64{}
	r := frame.NewReader(far, nil)
	for {
		f, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		n, _ := f.ID.Number()
		if want := payloadOf(n, f.Seq); f.Seq != next[f.ID] || !bytes.Equal(f.Payload, want) {
			t.Fatalf("frame %d of writer %d, want frame %d", f.Seq, n, next[f.ID])
		}
		next[f.ID]++
	}
	for n := range uint64(writers) {
		if got := next[frame.Number(n)]; got != frames {
			t.Errorf("%d frames of writer %d arrived, want %d", got, n, frames)
		}
	}
}

// writeMany writes frames of many sizes, in each way that there is.
func writeMany(t *testing.T, w *frame.Writer, n uint64, frames int) {
	for seq := range uint64(frames) {
		f := frame.NewChunk(frame.Number(n), nil, seq, payloadOf(n, seq), 0)
		f.Seq = seq
		var err error
		switch seq % 3 {
		case 0:
			body, _ := f.Append(nil)
			err = w.WriteWire(wire(body))
		default:
			err = w.Write(&f)
		}
		if seq%16 == 0 && err == nil {
			err = w.Flush()
		}
		if err != nil {
			t.Error(err)
			return
		}
	}
}

// payloadOf returns the payload of a writer's frame: mostly small, some of 32 KiB and more.
func payloadOf(n, seq uint64) []byte {
	size := 50 + seq*7
	if seq%8 == n%8 {
		size = 32<<10 + seq
	}
	return bytes.Repeat([]byte{byte(n*31 + seq)}, int(size))
}

func TestWriterOverASocket(t *testing.T) {
	near, far := socketPair(t)
	all := samples(t)
	w := frame.NewWriter(near, nil)
	go func() {
		for _, s := range all {
			w.Write(&s.frame)
		}
		w.Flush()
		near.Close()
	}()
	r := frame.NewReader(far, nil)
	for _, want := range all {
		f, err := r.Next()
		if err != nil || !reflect.DeepEqual(*f, want.frame) {
			t.Fatalf("%s: Next = %+v, %v", want.name, f, err)
		}
	}
}
