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

// A sink takes what is written. When gate is there, each write waits for it.
type sink struct {
	mu      sync.Mutex
	got     []byte
	writes  [][]byte // as they came, not copied
	gate    chan struct{}
	entered chan struct{}
	err     error
	short   bool
}

func (s *sink) Write(p []byte) (int, error) {
	if s.gate != nil {
		s.entered <- struct{}{}
		<-s.gate
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return 0, s.err
	}
	if s.short {
		return len(p) / 2, nil
	}
	s.got = append(s.got, p...)
	s.writes = append(s.writes, p)
	return len(p), nil
}

func (s *sink) bytes() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.Clone(s.got)
}

func write(tb testing.TB, w *frame.Writer, all ...frame.Frame) {
	tb.Helper()
	for i := range all {
		if err := w.Write(&all[i]); err != nil {
			tb.Fatalf("Write(%v frame) = %v", all[i].Type, err)
		}
	}
}

func flush(tb testing.TB, w *frame.Writer) {
	tb.Helper()
	if err := w.Flush(); err != nil {
		tb.Fatalf("Flush = %v", err)
	}
}

// Requirement: R2
func TestWriterWritesWhatAReaderReads(t *testing.T) {
	all := samples(t)
	var out bytes.Buffer
	w := frame.NewWriter(&out, nil)
	for _, s := range all {
		write(t, w, s.frame)
	}
	flush(t, w)
	if !bytes.Equal(out.Bytes(), streamOf(t, all)) {
		t.Error("the stream is not the frames one after the other")
	}
}

func TestWriterGathersUntilFlush(t *testing.T) {
	out := &sink{}
	w := frame.NewWriter(out, nil)
	write(t, w, frame.NewBodyEnd(sampleID), chunk(100), chunk(32<<10-1))
	if len(out.writes) != 0 {
		t.Fatalf("%d writes before Flush, want none", len(out.writes))
	}
	flush(t, w)
	flush(t, w)
	if len(out.writes) != 1 {
		t.Errorf("%d writes, want one for all frames", len(out.writes))
	}
}

func TestWriterWritesByItselfWhenMuchWaits(t *testing.T) {
	out := &sink{}
	w := frame.NewWriter(out, nil)
	for range 3 {
		write(t, w, chunk(30_000))
	}
	if len(out.writes) != 1 || len(out.got) < 64<<10 {
		t.Errorf("%d writes of %d bytes after 90 kB, want one of 64 KiB and more", len(out.writes), len(out.got))
	}
}

func TestWriterLeavesLargePayloadsWhereTheyAre(t *testing.T) {
	out := &sink{}
	w := frame.NewWriter(out, nil)
	small, large := chunk(100), chunk(32<<10)
	write(t, w, small, large)
	if len(out.writes) < 2 || &out.writes[1][0] != &large.Payload[0] {
		t.Error("a payload of 32 KiB was copied")
	}
	want := append(wire(encoded(t, &small)), wire(encoded(t, &large))...)
	if !bytes.Equal(out.bytes(), want) {
		t.Error("a large payload is in the wrong place")
	}
}

func TestWriterIsDoneWithAFrame(t *testing.T) {
	out := &sink{}
	w := frame.NewWriter(out, nil)
	var want []byte
	for _, size := range []int{10, 1 << 10, 64 << 10} {
		f := chunk(size)
		want = append(want, wire(encoded(t, &f))...)
		write(t, w, f)
		clear(f.Payload)
	}
	raw := wire(heartbeat(t))
	want = append(want, raw...)
	if err := w.WriteWire(raw); err != nil {
		t.Fatal(err)
	}
	clear(raw)
	flush(t, w)
	if !bytes.Equal(out.bytes(), want) {
		t.Error("what was written changed with the frame after Write")
	}
}

func TestWriterRefuses(t *testing.T) {
	manifest := frame.Frame{Type: frame.TypeRelayNotify, ID: frame.Number(0), Meta: helloMeta(t, func(b *frame.MetaBuilder) {
		b.Bytes("manifest", make([]byte, 2000))
	})}
	for _, c := range []struct {
		name  string
		frame frame.Frame
		want  frame.Kind
	}{
		{"a payload above the limit", chunk(2000), frame.ErrFrameTooLarge},
		{"a large payload above the limit", chunk(64 << 10), frame.ErrFrameTooLarge},
		{"a meta above the limit", manifest, frame.ErrFrameTooLarge},
		{"no id", frame.Frame{Type: frame.TypeEnd}, frame.ErrEncode},
		{"an id of 2^63", frame.NewBodyEnd(frame.Number(1 << 63)), frame.ErrEncode},
		{"an index of 2^63", frame.NewChunk(sampleID, nil, 1<<63, nil, 0), frame.ErrEncode},
		{"a large chunk without checksum", frame.Frame{
			Type: frame.TypeChunk, ID: sampleID, ChunkIndex: frame.Some[uint64](0), Payload: make([]byte, 64<<10),
		}, frame.ErrEncode},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := &sink{}
			w := frame.NewWriter(out, &frame.WriterOptions{MaxFrame: 1500})
			before, after := chunk(10), chunk(20)
			write(t, w, before)
			if err := w.Write(&c.frame); !errors.Is(err, c.want) {
				t.Errorf("Write = %v, want %v", err, c.want)
			}
			write(t, w, after)
			flush(t, w)
			want := append(wire(encoded(t, &before)), wire(encoded(t, &after))...)
			if !bytes.Equal(out.bytes(), want) {
				t.Errorf("the stream is %x, want the other frames alone: %x", out.bytes(), want)
			}
		})
	}
}

func TestWriterLimits(t *testing.T) {
	f := chunk(1000)
	size := len(encoded(t, &f))
	w := frame.NewWriter(io.Discard, &frame.WriterOptions{MaxFrame: size})
	write(t, w, f)
	w.SetMaxFrame(size - 1)
	if err := w.Write(&f); !errors.Is(err, frame.ErrFrameTooLarge) {
		t.Errorf("Write after SetMaxFrame = %v, want frame_too_large", err)
	}
	for max, tooLarge := range map[int]int{0: frame.DefaultMaxFrame, 1 << 30: frame.HardMaxFrame} {
		w.SetMaxFrame(max)
		f := frame.NewRelayState(make([]byte, tooLarge))
		if err := w.Write(&f); !errors.Is(err, frame.ErrFrameTooLarge) {
			t.Errorf("Write of more than %d bytes with limit %d = %v, want frame_too_large", tooLarge, max, err)
		}
		f.Payload = f.Payload[:tooLarge-100]
		write(t, w, f)
	}
}

func TestWriterErrorsOfTheStreamStay(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range []struct {
		name string
		out  *sink
		want error
	}{
		{"an error", &sink{err: broken}, broken},
		{"a short write", &sink{short: true}, io.ErrShortWrite},
	} {
		t.Run(c.name, func(t *testing.T) {
			small, large := chunk(10), chunk(64<<10)
			for name, fails := range map[string]func(*frame.Writer) error{
				"Flush":              func(w *frame.Writer) error { write(t, w, small); return w.Flush() },
				"Write of much":      func(w *frame.Writer) error { return w.Write(&large) },
				"WriteWire of much":  func(w *frame.Writer) error { return w.WriteWire(make([]byte, 64<<10)) },
				"Write until much":   func(w *frame.Writer) (err error) { f := chunk(30_000); write(t, w, f, f); return w.Write(&f) },
				"Flush after a fail": func(w *frame.Writer) error { w.Write(&large); return w.Flush() },
			} {
				w := frame.NewWriter(c.out, nil)
				if err := fails(w); !errors.Is(err, frame.ErrIO) || !errors.Is(err, c.want) {
					t.Errorf("%s = %v, want io: %v", name, err, c.want)
				}
				for again, call := range map[string]func() error{
					"Write": func() error { return w.Write(&small) }, "Write of much": func() error { return w.Write(&large) },
					"WriteWire": func() error { return w.WriteWire([]byte{0}) }, "Flush": w.Flush,
				} {
					if err := call(); !errors.Is(err, c.want) {
						t.Errorf("%s after %s failed = %v, want %v", again, name, err, c.want)
					}
				}
			}
		})
	}
}

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
