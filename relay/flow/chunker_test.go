package flow

import (
	"bytes"
	"fmt"
	"iter"
	"testing"

	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/internal/cbor"
)

// streamStart returns a STREAM_START with a routing id.
func streamStart(sequence frame.Optional[bool]) *frame.Frame {
	f := frame.NewStreamStart(frame.Number(7), []byte("arg0"), []byte("media:"))
	f.RoutingID = frame.Number(3)
	f.IsSequence = sequence
	return &f
}

// collectFrames returns the frames as a receiver decodes them.
func collectFrames(t testing.TB, frames iter.Seq[*frame.Frame]) (got []*frame.Frame) {
	t.Helper()
	for f := range frames {
		got = append(got, transported(t, f))
	}
	return got
}

func transported(t testing.TB, f *frame.Frame) *frame.Frame {
	t.Helper()
	body, err := f.Append(nil)
	if err != nil {
		t.Fatalf("%+v: %v", f, err)
	}
	var got frame.Frame
	if err := frame.Decode(body, &got); err != nil {
		t.Fatal(err)
	}
	return &got
}

func TestPayloadCutsAsTheProtocolSays(t *testing.T) {
	const max = 10
	data := randomCode(random(t), 10*max)
	for size := range len(data) {
		payload := data[:size]
		c := NewChunker(streamStart(frame.Some(false)), max)
		got := collectFrames(t, c.Payload(payload, []byte("text/plain")))
		want := bytes.Clone(payload)
		if n := max1(size, max); len(got) != n || c.Sent() != uint64(n) {
			t.Fatalf("%d bytes: %d chunks, Sent() = %d, want %d", size, len(got), c.Sent(), n)
		}
		for i, f := range got {
			offset := i * max
			expected := frame.NewChunk(frame.Number(7), []byte("arg0"), uint64(i), want[offset:min(size, offset+max)], 0)
			expected.RoutingID = frame.Number(3)
			expected.Checksum = frame.Some(Checksum(expected.Payload))
			expected.Offset = frame.Some(uint64(offset))
			if i == 0 {
				expected.ContentType, expected.Len = []byte("text/plain"), frame.Some(uint64(size))
			}
			if i == len(got)-1 {
				expected.EOF = frame.Some(true)
			}
			sameFrame(t, fmt.Sprintf("%d bytes, chunk %d", size, i), f, &expected)
		}
	}
}

// max1 returns how many pieces of a size there are in n bytes, one at least.
func max1(n, size int) int { return max(1, (n+size-1)/size) }

func sameFrame(t *testing.T, what string, got, want *frame.Frame) {
	t.Helper()
	g, err := got.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	w, err := want.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(g, w) {
		t.Errorf("%s: got %+v\nwant %+v", what, got, want)
	}
}

func TestScalarWrapsEachPiece(t *testing.T) {
	data := randomCode(random(t), 1<<17)
	for _, test := range []struct {
		size, max int
		heads     []string
	}{
		{0, 10, []string{"40"}},
		{3, 10, []string{"43"}},
		{23, 10, []string{"4a", "4a", "43"}},
		{60, 30, []string{"581e", "581e"}},
		{700, 400, []string{"590190", "59012c"}},
		{1 << 17, 1 << 16, []string{"5a00010000", "5a00010000"}},
	} {
		c := NewChunker(streamStart(frame.Some(false)), test.max)
		rest := data[:test.size]
		got := collectFrames(t, c.Scalar(rest))
		if len(got) != len(test.heads) {
			t.Fatalf("%d bytes: %d chunks, want %d", test.size, len(got), len(test.heads))
		}
		for i, f := range got {
			piece := rest[:min(test.max, len(rest))]
			rest = rest[len(piece):]
			head := f.Payload[:len(f.Payload)-len(piece)]
			if fmt.Sprintf("%x", head) != test.heads[i] || !bytes.HasSuffix(f.Payload, piece) {
				t.Errorf("%d bytes, chunk %d begins with %x, want %s", test.size, i, head, test.heads[i])
			}
			expected := frame.NewChunk(frame.Number(7), []byte("arg0"), uint64(i), f.Payload, Checksum(f.Payload))
			expected.RoutingID = frame.Number(3)
			sameFrame(t, fmt.Sprintf("%d bytes, chunk %d", test.size, i), f, &expected)
		}
	}
}

func TestItemHasItsMetaOnTheFirstChunk(t *testing.T) {
	var b frame.MetaBuilder
	b.Text("title", "one")
	meta, err := b.Meta()
	if err != nil {
		t.Fatal(err)
	}
	item := append(cbor.AppendHead(nil, cbor.Bytes, 90), make([]byte, 90)...)
	c := NewChunker(streamStart(frame.Some(true)), 10)
	collectFrames(t, c.Item([]byte{0}, frame.Meta{}))
	rest := item
	for i, f := range collectFrames(t, c.Item(item, meta)) {
		expected := frame.NewChunk(frame.Number(7), []byte("arg0"), uint64(i+1), rest[:min(10, len(rest))], 0)
		rest = rest[len(expected.Payload):]
		expected.Checksum = frame.Some(Checksum(expected.Payload))
		expected.RoutingID = frame.Number(3)
		if i == 0 {
			expected.Meta = meta
		}
		sameFrame(t, fmt.Sprintf("chunk %d", i), f, &expected)
	}
	if len(rest) > 0 {
		t.Errorf("%d bytes of the item are missing", len(rest))
	}
}

func TestAChunkThatWasYieldedCounts(t *testing.T) {
	c := NewChunker(streamStart(frame.Some(false)), 2)
	for f := range c.Scalar([]byte("abcdef")) {
		if f.ChunkIndex.Or(9) == 1 {
			break
		}
	}
	for f := range c.Scalar([]byte("g")) {
		if got := f.ChunkIndex.Or(9); got != 2 {
			t.Errorf("index %d after two chunks, want 2", got)
		}
	}
	end := c.End()
	want := frame.NewStreamEnd(frame.Number(7), []byte("arg0"), frame.Some(uint64(3)))
	want.RoutingID = frame.Number(3)
	sameFrame(t, "End()", &end, &want)
}

func TestAnUnboundedStreamEndsWithoutANumber(t *testing.T) {
	start := streamStart(frame.Some(true))
	start.Unbounded = frame.Some(true)
	c := NewChunker(start, 0)
	for range 2 {
		if end := c.End(); end.ChunkCount.IsSet() {
			t.Errorf("End() = %+v after %d chunks, want no number of chunks", end, c.Sent())
		}
		collectFrames(t, c.Item([]byte{0}, frame.Meta{}))
	}
}

func TestAChunkerKeepsNothingOfItsStart(t *testing.T) {
	start := streamStart(frame.Optional[bool]{})
	c := NewChunker(start, -1)
	copy(start.StreamID, "xxxx")
	for f := range c.Payload(make([]byte, frame.DefaultMaxChunk+1), nil) {
		if string(f.StreamID) != "arg0" {
			t.Errorf("stream id %q, want \"arg0\"", f.StreamID)
		}
	}
	if c.Sent() != 2 {
		t.Errorf("Sent() = %d, want 2 pieces of at most %d bytes", c.Sent(), frame.DefaultMaxChunk)
	}
}

func TestChunksDoNotAllocate(t *testing.T) {
	c := NewChunker(streamStart(frame.Some(false)), 100)
	data := make([]byte, 10_000)
	n := 0
	noAllocs(t, "chunks", func() {
		for range 10 {
			for f := range c.Payload(data, data[:3]) {
				n += len(f.Payload)
			}
			for f := range c.Scalar(data) {
				n += len(f.Payload)
			}
			for f := range c.Item(data, frame.Meta{}) {
				n += len(f.Payload)
			}
		}
	})
}

func ExampleChunker() {
	start := frame.NewStreamStart(frame.Number(1), []byte("out"), []byte("media:"))
	start.IsSequence = frame.Some(false)
	c := NewChunker(&start, 4)
	for f := range c.Scalar([]byte("hello!")) {
		// ... acquire credit, write f ...
		fmt.Printf("%v %d %x\n", f.Type, f.ChunkIndex.Or(0), f.Payload)
	}
	end := c.End()
	fmt.Println(end.Type, end.ChunkCount.Or(0))
	// Output:
	// chunk 0 4468656c6c
	// chunk 1 426f21
	// stream_end 2
}
