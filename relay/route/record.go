package route

import (
	"math"

	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/stats"
)

// A way is the direction of a frame of a request.
type way bool

const (
	toHandler   way = true  // out, in statistics
	toRequester way = false // in
)

// A count is how much went by.
type count struct {
	framesIn, framesOut, bytesIn, bytesOut uint64
}

func (c *count) add(w way, bytes int) {
	if w == toHandler {
		c.framesOut++
		c.bytesOut += uint64(bytes)
	} else {
		c.framesIn++
		c.bytesIn += uint64(bytes)
	}
}

// What a request keeps of its streams at most. What goes beyond, as no honest request does, is counted with the
// frames of no stream.
const (
	mostStreams = 1024
	mostText    = 64 << 10 // bytes of all their ids
)

// A traffic is what a request has carried. The streams of a usual request cost no memory of their own, and no
// frame makes a text: that is for who takes a snapshot.
type traffic struct {
	all     count
	rest    stream // frames of no stream
	streams []stream
	last    int              // the stream of the last frame
	places  map[string]int32 // of the streams by id, when they are many
	ids     []byte           // the ids of all streams, one after the other
	credit  int64            // that each stream starts with

	firstStreams [3]stream
	firstIDs     [56]byte
}

// A stream is what one stream has carried. Streams of both directions that have the same id are one here.
type stream struct {
	count
	from, to            uint32 // where its id is in traffic.ids
	chunksIn, chunksOut uint64
	outstanding         int64 // credit: negative when somebody overran
	unbounded, ended    bool
}

// record counts a frame that goes by.
func (t *traffic) record(w way, f *frame.Frame) {
	bytes := len(f.Payload)
	t.all.add(w, bytes)
	s := t.of(f)
	s.add(w, bytes)
	switch f.Type {
	case frame.TypeChunk:
		s.outstanding--
		if w == toHandler {
			s.chunksOut++
		} else {
			s.chunksIn++
		}
	case frame.TypeCredit:
		n, _ := f.Credit.Get()
		s.outstanding = grown(s.outstanding, n)
	case frame.TypeStreamStart:
		s.unbounded = s.unbounded || f.Unbounded.Or(false)
	case frame.TypeStreamEnd:
		s.ended = true
	}
}

// grown adds a grant, up to the largest number.
func grown(n int64, grant uint64) int64 {
	if grant > math.MaxInt64 || n > 0 && int64(grant) > math.MaxInt64-n {
		return math.MaxInt64
	}
	return n + int64(grant)
}

// of returns the figures of the stream that a frame belongs to.
func (t *traffic) of(f *frame.Frame) *stream {
	id := f.StreamID
	switch {
	case id == nil && f.Type == frame.TypeCredit && len(t.streams) == 1:
		return &t.streams[0] // it is for the only stream
	case id == nil:
		return &t.rest
	case t.last < len(t.streams) && t.is(t.last, id):
		return &t.streams[t.last]
	}
	i, ok := t.find(id)
	if !ok {
		if len(t.streams) == mostStreams || len(t.ids)+len(id) > mostText {
			return &t.rest
		}
		i = t.add(id)
	}
	t.last = i
	return &t.streams[i]
}

func (t *traffic) id(i int) []byte { return t.ids[t.streams[i].from:t.streams[i].to] }

func (t *traffic) is(i int, id []byte) bool { return string(t.id(i)) == string(id) }

// few is how many streams are looked through one by one.
const few = 16

func (t *traffic) find(id []byte) (int, bool) {
	if t.places != nil {
		i, ok := t.places[string(id)]
		return int(i), ok
	}
	for i := range t.streams {
		if t.is(i, id) {
			return i, true
		}
	}
	return 0, false
}

// add adds a stream and returns its place.
func (t *traffic) add(id []byte) int {
	if t.streams == nil {
		t.streams, t.ids = t.firstStreams[:0], t.firstIDs[:0]
	}
	i, from := len(t.streams), len(t.ids)
	t.ids = append(t.ids, id...)
	t.streams = append(t.streams, stream{from: uint32(from), to: uint32(len(t.ids)), outstanding: t.credit})
	if t.places != nil {
		t.places[string(id)] = int32(i)
	} else if len(t.streams) > few {
		t.places = make(map[string]int32, 2*few)
		for i := range t.streams {
			t.places[string(t.id(i))] = int32(i)
		}
	}
	return i
}

// snapshot returns the figures of all streams.
func (t *traffic) snapshot() []stats.Stream {
	var out []stats.Stream
	if t.rest.framesIn+t.rest.framesOut > 0 {
		out = append(out, t.rest.snapshot())
	}
	for i := range t.streams {
		id := string(t.id(i))
		s := t.streams[i].snapshot()
		s.StreamID = &id
		out = append(out, s)
	}
	return out
}

func (s *stream) snapshot() stats.Stream {
	return stats.Stream{
		FramesIn: s.framesIn, FramesOut: s.framesOut, BytesIn: s.bytesIn, BytesOut: s.bytesOut,
		ChunksIn: s.chunksIn, ChunksOut: s.chunksOut,
		CreditOutstanding: s.outstanding, Unbounded: s.unbounded, Ended: s.ended,
	}
}
