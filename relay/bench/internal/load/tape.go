package load

import (
	"fmt"

	"github.com/cosim-go/cosim/relay/bench/internal/cborframe"
	"github.com/cosim-go/cosim/relay/bench/internal/pair"
)

// A Tape is a row of frames of several requests at once, each from its first frame to its last. It can be
// played again and again: every request has ended where it starts over, so a reorder buffer sees the numbers
// 0, 1, 2 and so on of each, opens flows and forgets them.
type Tape struct {
	Items   []Item
	Batches []Batch
}

// A Batch is what is written at once: whole frames, as many as fit into a buffer, or a larger one alone.
type Batch struct {
	Wire   []byte
	Chunks int // CHUNKs among them
}

const flows = 4 // requests at once

// NewTape returns a tape of CHUNKs with payloads of the given size, framed by what a request needs besides.
func NewTape(payload int) Tape {
	chunks := min(max(2<<20/payload, 8), 128) // of a request; all together fit into a last-level cache
	data := Payload(payload)
	rows := make([][]Item, flows)
	for i := range rows {
		rows[i] = flow(i).request(chunks, data)
	}
	var t Tape
	for n := range rows[0] {
		for _, row := range rows {
			t.Items = append(t.Items, row[n])
		}
	}
	t.join()
	return t
}

// join moves the items into one piece of memory, a batch after the other.
func (t *Tape) join() {
	size := 0
	for i := range t.Items {
		size += len(t.Items[i].Wire)
	}
	all := make([]byte, 0, size)
	begin, chunks := 0, 0
	cut := func() {
		t.Batches = append(t.Batches, Batch{all[begin:len(all):len(all)], chunks})
		begin, chunks = len(all), 0
	}
	for i := range t.Items {
		item := &t.Items[i]
		if held := len(all) - begin; held > 0 && held+len(item.Wire) > pair.Buffer {
			cut()
		}
		all = append(all, item.Wire...)
		item.Wire = all[len(all)-len(item.Wire):]
		if item.Frame.Type == typeChunk {
			chunks++
		}
	}
	cut()
}

// A oneFlow makes the frames of one request.
type oneFlow struct {
	id, xid uint64
	stream  string
}

func flow(n int) oneFlow {
	return oneFlow{uint64(n), 1000 + uint64(n), fmt.Sprintf("6f1c2f0e-5d7a-4c1b-9a3e-%012d", n)}
}

func (f oneFlow) item(name string, kind uint64, frame cborframe.Frame) Item {
	frame.Version, frame.Type, frame.RoutingID = 4, kind, some(f.xid)
	frame.ID = fmt.Appendf(nil, "cosim-bench-%04d", f.id)
	return newItem(name, frame)
}

func (f oneFlow) chunk(seq, index uint64, payload []byte) Item {
	return f.item("CHUNK", typeChunk, cborframe.Frame{
		Seq: seq, Payload: payload, StreamID: f.stream, ChunkIndex: some(index), Checksum: checksum(payload),
	})
}

// req opens a request.
func (f oneFlow) req() Item {
	return f.item("REQ", typeReq, cborframe.Frame{
		ContentType: "application/cbor", Cap: `cap:generate;in="media:";out="media:"`,
	})
}

// request returns all frames of a request with one stream of that many chunks.
func (f oneFlow) request(chunks int, payload []byte) []Item {
	row := []Item{
		f.req(),
		f.item("STREAM_START", typeStreamStart, cborframe.Frame{Seq: 1, StreamID: f.stream, MediaURN: "media:"}),
	}
	for i := range uint64(chunks) {
		row = append(row, f.chunk(2+i, i, payload))
	}
	n := uint64(chunks)
	return append(row,
		f.item("STREAM_END", typeStreamEnd, cborframe.Frame{Seq: 2 + n, StreamID: f.stream, ChunkCount: some(n)}),
		f.item("END", typeEnd, cborframe.Frame{Seq: 3 + n, EOF: yes()}),
	)
}
