package frame_test

import (
	"testing"

	"github.com/cosim-go/cosim/relay/frame"
)

func TestChunk(t *testing.T) {
	f := frame.NewChunk(sampleID, []byte("out"), 0, []byte("hello"), 1<<64-1)
	got := decoded(t, encoded(t, &f))
	if got.Type != frame.TypeChunk || string(got.StreamID) != "out" || string(got.Payload) != "hello" ||
		got.ChunkIndex != frame.Some[uint64](0) || got.Checksum != frame.Some[uint64](1<<64-1) {
		t.Errorf("NewChunk = %+v", got)
	}
	empty := frame.NewChunk(sampleID, []byte("out"), 0, nil, 0)
	if got := decoded(t, encoded(t, &empty)); got.Payload == nil {
		t.Error("NewChunk without payload has none, want an empty one")
	}
}

func TestFeedItem(t *testing.T) {
	for _, want := range []frame.FeedItem{
		{},
		{Seq: frame.Some[int64](0), PTS: frame.Some[int64](-5)},
		{Capture: frame.Some[int64](1 << 60), Gap: frame.Some(frame.Gap{})},
		{Gap: frame.Some(frame.Gap{Dropped: 3, Duration: 60_000})},
	} {
		f := chunk(1)
		f.Meta = metaOf(t, want)
		if got := decoded(t, encoded(t, &f)).FeedItem(); got != want {
			t.Errorf("FeedItem = %+v, want %+v", got, want)
		}
	}
}

func TestFeedItemPassesOverWrongKinds(t *testing.T) {
	for _, gap := range []string{"03", "a1 67 64726f70706564 03", "a0", "80", "f6"} {
		var b frame.MetaBuilder
		b.Text("seq", "1")
		b.Float("pts_us", 1)
		b.Uint("capture_ts_us", 1<<63)
		b.Raw("gap", unhex(t, gap))
		f := frame.Frame{Type: frame.TypeChunk, Meta: built(t, &b)}
		if got := f.FeedItem(); got != (frame.FeedItem{}) {
			t.Errorf("FeedItem with gap %s = %+v, want none", gap, got)
		}
	}
}
