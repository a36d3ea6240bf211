package frame_test

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"testing"

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
