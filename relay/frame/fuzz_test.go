package frame_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/cosim-go/cosim/relay/frame"
)

// addBodies seeds a fuzz test with the golden frames and with a frame of every type.
func addBodies(f *testing.F) {
	v := loadVectors(f)
	for _, c := range append(v.Valid, v.Provisional...) {
		f.Add([]byte(c.Hex))
	}
	for _, c := range v.Invalid {
		f.Add([]byte(c.Hex))
	}
	for _, s := range samples(f) {
		if len(s.frame.Payload) < 4<<10 {
			f.Add(encoded(f, &s.frame))
		}
	}
	for _, odd := range []string{"06 5f 41 61 42 62 63 ff", "0a 7f 61 61 60 ff", "05 bf 7f 61 61 ff 9f 01 ff ff", "18 63 c1 81 a1 00 f7", "05 a2 61 61 f7 61 61 fa 3f800000"} {
		f.Add(heartbeat(f, odd))
	}
}

// bounded fails the test when a call allocates more than what an input of some bytes may cost.
// The call may be made again.
func bounded(t *testing.T, what string, input int, call func()) {
	t.Helper()
	limit := uint64(4*input + 64<<10)
	got := allocated(call)
	for tries := 0; got > limit && tries < 3; tries++ { // others allocate too
		got = min(got, allocated(call))
	}
	if got > limit {
		t.Errorf("%s: an input of %d bytes allocates %d, want at most %d", what, input, got, limit)
	}
}

// FuzzDecode expects that no body makes the decoder panic or allocate out of proportion, that
// Check says what Decode does, and that a frame which was decoded encodes to something stable.
func FuzzDecode(f *testing.F) {
	addBodies(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		before := bytes.Clone(body)
		var got frame.Frame
		var err error
		bounded(t, "Decode", len(body), func() { err = frame.Decode(body, &got) })
		head, checked := frame.Check(body)
		if fmt.Sprint(err) != fmt.Sprint(checked) || frame.KindOf(err) != frame.KindOf(checked) {
			t.Fatalf("Decode = %v, Check = %v", err, checked)
		}
		if err != nil {
			if kind := frame.KindOf(err); kind != frame.ErrDecode && kind != frame.ErrInvalidFrame {
				t.Fatalf("Decode = %v of kind %q", err, kind)
			}
			return
		}
		if head != got.Head() {
			t.Fatalf("Check = %+v, Decode = %+v", head, got.Head())
		}
		readMeta(&got)
		expectStable(t, &got, len(body))
		if !bytes.Equal(body, before) {
			t.Fatal("the body was written to")
		}
	})
}

// expectStable expects that decoding what a decoded frame encodes to gives the same frame, and
// encoding that the same bytes.
func expectStable(t *testing.T, f *frame.Frame, size int) {
	t.Helper()
	buf := make([]byte, 0, 2*size)
	var first []byte
	var err error
	bounded(t, "Append", size, func() { first, err = f.Append(buf) })
	if err != nil {
		t.Fatalf("Append of a decoded frame = %v", err)
	}
	again := decoded(t, first)
	if want, got := withoutMeta(f), withoutMeta(again); !reflect.DeepEqual(got, want) {
		t.Fatalf("Decode(Append(f)) = %+v, want %+v", got, want)
	}
	if got, want := metaText(t, again.Meta), metaText(t, f.Meta); got != want {
		t.Fatalf("meta of Decode(Append(f)) = %s, want %s", got, want)
	}
	if second := encoded(t, again); !bytes.Equal(first, second) {
		t.Fatalf("Append = %x, then %x", first, second)
	}
}

// withoutMeta returns a copy of a frame that can be compared, but for its meta.
func withoutMeta(f *frame.Frame) frame.Frame {
	c := *f.Clone()
	c.Meta = frame.Meta{}
	return c
}

// metaText returns the names of a meta and what they stand for, whatever the encoding.
func metaText(tb testing.TB, m frame.Meta) string {
	if !m.IsSet() {
		return "none"
	}
	all := map[string]string{}
	for name, value := range m.All() {
		all[string(name)] = fmt.Sprintf("%x", tidied(tb, value.Raw()))
	}
	return fmt.Sprint(all)
}

// FuzzReader expects the same outcome of a stream however it comes in pieces, as much of it
// passed on as was good, and no allocation out of proportion.
func FuzzReader(f *testing.F) {
	for _, v := range loadVectors(f).Streams {
		f.Add([]byte(v.Hex), uint32(v.MaxFrame), uint64(len(v.Hex)))
	}
	f.Add(streamOf(f, samples(f)[:20]), uint32(0), uint64(1))
	f.Add(bytes.Repeat(wire(heartbeat(f)), 30), uint32(7), uint64(2))
	f.Fuzz(func(t *testing.T, stream []byte, max uint32, seed uint64) {
		options := &frame.ReaderOptions{MaxFrame: int(max)}
		want, passed := readAll(frame.NewReader(bytes.NewReader(stream), options))
		bounded(t, "reading a stream", len(stream)+ownSize/4, func() {
			r := frame.NewReader(bytes.NewReader(stream), options)
			for _, err := r.Next(); err == nil; _, err = r.Next() {
			}
		})
		random := rand.New(rand.NewPCG(seed, 1))
		got, gotPassed := readAll(frame.NewReader(&randomPieces{stream, random}, options))
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("in pieces %q, at once %q", got, want)
		}
		joined := ""
		for i, part := range passed {
			if part != gotPassed[i] {
				t.Fatalf("frame %d is %x in pieces, %x at once", i, gotPassed[i], part)
			}
			joined += part
		}
		if !bytes.HasPrefix(stream, []byte(joined)) {
			t.Fatal("what was passed on is not what came")
		}
	})
}

// ownSize is what a reader allocates before it reads anything.
const ownSize = 66 << 10

// readAll reads to the end, in turn by Next and by NextHead, and returns what each read yielded
// and the good frames as they came.
func readAll(r *frame.Reader) (outcomes, passed []string) {
	for n := 0; ; n++ {
		var head frame.Head
		var err error
		if n%2 == 0 {
			var f *frame.Frame
			if f, err = r.Next(); err == nil {
				head = f.Head()
			}
		} else {
			var next *frame.Head
			if next, err = r.NextHead(); err == nil {
				head = *next
			}
		}
		if err != nil {
			return append(outcomes, fmt.Sprintf("%s: %v", frame.KindOf(err), err)), passed
		}
		outcomes = append(outcomes, fmt.Sprint(head))
		passed = append(passed, string(r.Wire()))
	}
}

// randomPieces is a stream that comes in pieces of random sizes, at times together with its end.
type randomPieces struct {
	stream []byte
	random *rand.Rand
}

func (p *randomPieces) Read(b []byte) (n int, err error) {
	if len(b) > 0 && len(p.stream) > 0 {
		n = copy(b[:min(len(b), 1+p.random.IntN(40))], p.stream)
		p.stream = p.stream[n:]
	}
	if len(p.stream) == 0 && (n == 0 || p.random.IntN(2) == 0) {
		err = io.EOF
	}
	return n, err
}
