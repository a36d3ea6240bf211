package frame_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/cosim-go/cosim/relay/frame"
)

// streamOf returns frames as they travel.
func streamOf(tb testing.TB, all []sample) []byte {
	tb.Helper()
	var stream []byte
	for _, s := range all {
		stream = append(stream, wire(encoded(tb, &s.frame))...)
	}
	return stream
}

func TestReaderHoweverTheStreamComes(t *testing.T) {
	all := samples(t)
	stream := streamOf(t, all)
	for name, in := range map[string]io.Reader{
		"at once":           bytes.NewReader(stream),
		"byte by byte":      iotest.OneByteReader(bytes.NewReader(stream)),
		"half of each":      iotest.HalfReader(bytes.NewReader(stream)),
		"end with the last": iotest.DataErrReader(bytes.NewReader(stream)),
	} {
		t.Run(name, func(t *testing.T) {
			r := frame.NewReader(in, nil)
			for _, want := range all {
				f, err := r.Next()
				if err != nil {
					t.Fatalf("%s: Next = %v", want.name, err)
				}
				if !reflect.DeepEqual(*f, want.frame) {
					t.Fatalf("%s: Next = %+v, want %+v", want.name, *f, want.frame)
				}
			}
			for range 2 {
				if f, err := r.Next(); err != io.EOF {
					t.Errorf("Next at the end = %v, %v, want io.EOF", f, err)
				}
			}
		})
	}
}

// Requirement: R2
func TestReaderHeadsAndWire(t *testing.T) {
	all := samples(t)
	stream := streamOf(t, all)
	r := frame.NewReader(bytes.NewReader(stream), nil)
	var passed []byte
	for _, want := range all {
		head, err := r.NextHead()
		if err != nil || *head != want.frame.Head() {
			t.Fatalf("%s: NextHead = %+v, %v", want.name, head, err)
		}
		if f := r.Frame(); !reflect.DeepEqual(*f, want.frame) {
			t.Errorf("%s: Frame = %+v, want %+v", want.name, *f, want.frame)
		}
		passed = append(passed, r.Wire()...)
	}
	if _, err := r.NextHead(); err != io.EOF {
		t.Errorf("NextHead at the end = %v, want io.EOF", err)
	}
	if !bytes.Equal(passed, stream) {
		t.Error("what Wire returned is not what was received")
	}
}

// Requirement: R2
func TestReaderWireKeepsOddBodies(t *testing.T) {
	odd := wire(unhex(t, "bf 18 63 a1 f4 fa 3f800000 03 1b 0000000000000001 02 01 61 78 f7 01 07 00 04 00 04 ff"))
	r := frame.NewReader(bytes.NewReader(odd), nil)
	if _, err := r.NextHead(); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(r.Wire(), odd) {
		t.Errorf("Wire = %x, want %x", r.Wire(), odd)
	}
}

func TestReaderFramesThatCameTogetherStandTogether(t *testing.T) {
	stream := bytes.Repeat(wire(heartbeat(t)), 10)
	reads, runs := 0, 0
	r := frame.NewReader(bytes.NewReader(stream), &frame.ReaderOptions{Idle: func() error { reads++; return nil }})
	var got []byte
	for {
		if _, err := r.NextHead(); err != nil {
			break
		}
		run := r.Wire()
		for r.Buffered() {
			if _, err := r.NextHead(); err != nil {
				t.Fatal(err)
			}
			run = run[:len(run)+len(r.Wire())]
		}
		got = append(got, run...)
		runs++
	}
	if !bytes.Equal(got, stream) || runs != reads-1 {
		t.Errorf("%d runs by %d reads = %x, want %x", runs, reads, got, stream)
	}
}

func TestReaderIdle(t *testing.T) {
	first, second := chunk(100), chunk(200)
	in := &pieces{parts: [][]byte{
		append(wire(encoded(t, &first)), wire(encoded(t, &second))[:50]...), wire(encoded(t, &second))[50:],
	}}
	var taken []*frame.Frame
	var last *frame.Frame
	calls := 0
	r := frame.NewReader(in, &frame.ReaderOptions{Idle: func() error {
		calls++
		if last != nil {
			taken = append(taken, last.Clone()) // still valid here
		}
		return nil
	}})
	for {
		f, err := r.Next()
		if err != nil {
			break
		}
		last = f
	}
	if calls != 3 {
		t.Errorf("Idle was called %d times, want 3: before each time that no whole frame was left", calls)
	}
	if len(taken) != 2 || !reflect.DeepEqual(*taken[0], first) || !reflect.DeepEqual(*taken[1], second) {
		t.Error("a frame had changed when Idle was called")
	}
}

func TestReaderIdleEndsTheReader(t *testing.T) {
	failed := frame.Errorf(frame.ErrIO, "cannot flush")
	r := frame.NewReader(bytes.NewReader(wire(heartbeat(t))), &frame.ReaderOptions{Idle: func() error { return failed }})
	for range 2 {
		if _, err := r.Next(); err != failed {
			t.Errorf("Next = %v, want the error of Idle", err)
		}
	}
}

// pieces is a stream that comes in parts.
type pieces struct{ parts [][]byte }

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.parts) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.parts[0])
	if p.parts[0] = p.parts[0][n:]; len(p.parts[0]) == 0 {
		p.parts = p.parts[1:]
	}
	return n, nil
}

func TestReaderLimits(t *testing.T) {
	for _, c := range []struct {
		name      string
		max, size int
		good      bool
	}{
		{"at the default", 0, frame.DefaultMaxFrame, true},
		{"above the default", 0, frame.DefaultMaxFrame + 1, false},
		{"at a small limit", 200, 200, true},
		{"above a small limit", 200, 201, false},
		{"at the hard limit", 1 << 30, frame.HardMaxFrame, true},
		{"above the hard limit", 1 << 30, frame.HardMaxFrame + 1, false},
		{"2^31", 1 << 30, 1 << 31, false},
		{"2^32-1", 0, 1<<32 - 1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			for name, r := range map[string]*frame.Reader{
				"option": frame.NewReader(announce(c.size), &frame.ReaderOptions{MaxFrame: c.max}),
				"set":    limited(frame.NewReader(announce(c.size), nil), c.max),
			} {
				_, err := r.Next()
				want := frame.ErrUnexpectedEOF // there is nothing behind the length
				if !c.good {
					want = frame.ErrFrameTooLarge
				}
				if !errors.Is(err, want) {
					t.Errorf("%s: Next = %v, want %v", name, err, want)
				}
			}
		})
	}
}

// announce returns a stream of nothing but a length.
func announce(size int) io.Reader {
	return bytes.NewReader(binary.BigEndian.AppendUint32(nil, uint32(size)))
}

func limited(r *frame.Reader, max int) *frame.Reader {
	r.SetMaxFrame(max)
	return r
}

func TestReaderLimitHoldsForTheNextFrame(t *testing.T) {
	small, large := chunk(10), chunk(1000)
	stream := append(wire(encoded(t, &small)), wire(encoded(t, &large))...)
	r := frame.NewReader(bytes.NewReader(stream), &frame.ReaderOptions{MaxFrame: 5000})
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	r.SetMaxFrame(500) // the frame is in the buffer already
	if _, err := r.Next(); !errors.Is(err, frame.ErrFrameTooLarge) || !strings.Contains(err.Error(), "at most 500") {
		t.Errorf("Next = %v, want frame_too_large", err)
	}
}

func TestReaderBelievesNoLength(t *testing.T) {
	for _, c := range []struct{ announced, present, most int }{
		{frame.DefaultMaxFrame, 10, 16 << 10},
		{frame.HardMaxFrame, 10, 16 << 10},
		{frame.HardMaxFrame + 1, 10, 16 << 10},
		{frame.HardMaxFrame, 100 << 10, 4 * (100 << 10)},
		{frame.HardMaxFrame, 1 << 20, 4 << 20},
	} {
		stream := append(binary.BigEndian.AppendUint32(nil, uint32(c.announced)), make([]byte, c.present)...)
		r := frame.NewReader(bytes.NewReader(stream), &frame.ReaderOptions{MaxFrame: frame.HardMaxFrame})
		got := allocated(func() { r.Next() })
		if got > uint64(c.most) {
			t.Errorf("a length of %d with %d bytes there allocated %d bytes, want at most %d", c.announced, c.present, got, c.most)
		}
	}
}

// allocated returns how many bytes are allocated during a call.
func allocated(call func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	call()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestReaderErrorsOfTheStream(t *testing.T) {
	broken := errors.New("broken")
	whole := wire(heartbeat(t))
	for _, c := range []struct {
		name   string
		in     io.Reader
		frames int
		want   []error
	}{
		{"an error at once", iotest.ErrReader(broken), 0, []error{frame.ErrIO, broken}},
		{"an error after a frame", io.MultiReader(bytes.NewReader(whole), iotest.ErrReader(broken)), 1, []error{frame.ErrIO, broken}},
		{"an error within a frame", io.MultiReader(bytes.NewReader(whole[:5]), iotest.ErrReader(broken)), 0, []error{frame.ErrIO, broken}},
		{"an error that comes with the last bytes and once", &once{whole, broken}, 1, []error{frame.ErrIO, broken}},
		{"a stream that brings nothing", nothing{}, 0, []error{frame.ErrIO, io.ErrNoProgress}},
		{"a stream that brings less than nothing", liar(-1), 0, []error{frame.ErrIO}},
		{"a stream that brings more than there is room for", liar(64<<10 + 1), 0, []error{frame.ErrIO}},
		{"an error with a kind of its own", iotest.ErrReader(frame.Errorf(frame.ErrProtocol, "refused")), 0, []error{frame.ErrProtocol}},
		{"a bad body", bytes.NewReader(wire([]byte{0x80})), 0, []error{frame.ErrInvalidFrame}},
		{"an empty body", bytes.NewReader(make([]byte, 4)), 0, []error{frame.ErrDecode}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := frame.NewReader(c.in, nil)
			for range c.frames {
				if _, err := r.Next(); err != nil {
					t.Fatalf("Next = %v, want a frame", err)
				}
			}
			_, first := r.Next()
			for _, want := range c.want {
				if !errors.Is(first, want) {
					t.Errorf("Next = %v, want %v", first, want)
				}
			}
			if _, again := r.Next(); again != first {
				t.Errorf("Next again = %v, want the same error", again)
			}
			if _, again := r.NextHead(); again != first {
				t.Errorf("NextHead again = %v, want the same error", again)
			}
		})
	}
}

// liar is a stream that says of each Read that it brought that many bytes.
type liar int

func (l liar) Read([]byte) (int, error) { return int(l), nil }

// once is a stream that brings an error together with its bytes, and after that nothing.
type once struct {
	bytes []byte
	err   error
}

func (o *once) Read(p []byte) (int, error) {
	n := copy(p, o.bytes)
	if o.bytes = o.bytes[n:]; len(o.bytes) > 0 {
		return n, nil
	}
	err := o.err
	o.err = nil
	return n, err
}

type nothing struct{}

func (nothing) Read([]byte) (int, error) { return 0, nil }
