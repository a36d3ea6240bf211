package frame

import "github.com/cosim-go/cosim/relay/internal/cbor"

// NewChunk returns the CHUNK of a stream with an index, which counts from 0, and the FNV-1a
// checksum of its payload (64 bits). It borrows streamID and payload, and allocates nothing. A
// payload of nil is written as an empty one.
func NewChunk(id ID, streamID []byte, index uint64, payload []byte, checksum uint64) Frame {
	if payload == nil {
		payload = []byte{}
	}
	return Frame{
		Type: TypeChunk, ID: id, StreamID: streamID, Payload: payload,
		ChunkIndex: Some(index), Checksum: Some(checksum),
	}
}

// A FeedItem is what the first CHUNK of a live feed's item says of it in meta.
type FeedItem struct {
	Seq     Optional[int64] // number of the item, lost ones counted
	PTS     Optional[int64] // presentation time, in microseconds
	Capture Optional[int64] // wall clock, in microseconds since 1970
	Gap     Optional[Gap]   // on the first item after a loss
}

// A Gap is what a live feed lost before an item.
type Gap struct {
	Dropped  int64 // items
	Duration int64 // microseconds
}

var (
	itemKeys = [...]string{"seq", "pts_us", "capture_ts_us", "gap"}
	gapKeys  = [...]string{"dropped", "duration_us"}
)

// Put adds the keys of an item to a meta.
func (i FeedItem) Put(b *MetaBuilder) {
	b.optionalInt(itemKeys[0], i.Seq)
	b.optionalInt(itemKeys[1], i.PTS)
	b.optionalInt(itemKeys[2], i.Capture)
	if i.Gap.set {
		b.begin(itemKeys[3])
		b.values = append(b.values, cbor.Map|byte(len(gapKeys)))
		for k, n := range [...]int64{i.Gap.value.Dropped, i.Gap.value.Duration} {
			b.values = cbor.AppendHead(b.values, cbor.Text, uint64(len(gapKeys[k])))
			b.values = append(b.values, gapKeys[k]...)
			b.values = appendInt(b.values, n)
		}
		b.finish()
	}
}

// FeedItem reads the item's part of a CHUNK's meta. What is not of its kind counts as absent; a
// gap is one when it has both numbers.
func (f *Frame) FeedItem() FeedItem {
	var v [len(itemKeys)]Value
	f.Meta.pick(itemKeys[:], v[:])
	return FeedItem{v[0].optionalInt(), v[1].optionalInt(), v[2].optionalInt(), v[3].gap()}
}

func (v Value) gap() Optional[Gap] {
	var n [len(gapKeys)]Value
	m, _ := v.Map()
	m.pick(gapKeys[:], n[:])
	dropped, ok := n[0].Int()
	duration, both := n[1].Int()
	if !ok || !both {
		return Optional[Gap]{}
	}
	return Some(Gap{dropped, duration})
}

// appendInt appends an integer.
func appendInt(dst []byte, n int64) []byte {
	if n < 0 {
		return cbor.AppendHead(dst, cbor.Nint, uint64(-1-n))
	}
	return cbor.AppendHead(dst, cbor.Uint, uint64(n))
}
