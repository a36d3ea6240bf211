// Package load prepares the frames that the contenders encode, decode and carry.
package load

import (
	"encoding/binary"
	"hash/fnv"
	"strconv"

	"github.com/cosim-go/cosim/relay/bench/internal/cborframe"
)

// Type numbers of the frames used, as in the relay's protocol.
const (
	typeReq         = 1
	typeChunk       = 3
	typeEnd         = 4
	typeLog         = 5
	typeStreamStart = 8
	typeStreamEnd   = 9
	typeCredit      = 13
)

// Sizes are the payloads that are measured, in bytes.
var Sizes = []int{64, 1 << 10, 64 << 10, 256 << 10}

// SizeName writes a size for a benchmark's name: 64B, 256KiB.
func SizeName(n int) string {
	if n >= 1<<10 {
		return strconv.Itoa(n>>10) + "KiB"
	}
	return strconv.Itoa(n) + "B"
}

// An Item is a frame that is ready to travel.
type Item struct {
	Name  string
	Frame cborframe.Frame
	Wire  []byte // the body behind its length
}

// Body is the frame without the length before it.
func (i *Item) Body() []byte { return i.Wire[prefix:] }

// prefix is the length of the length before a body: four bytes, big endian.
const prefix = 4

func newItem(name string, f cborframe.Frame) Item {
	body := cborframe.Body(&f)
	wire := binary.BigEndian.AppendUint32(make([]byte, 0, prefix+len(body)), uint32(len(body)))
	return Item{name, f, append(wire, body...)}
}

// Chunk is a CHUNK in the middle of a stream, with a payload of the given size.
func Chunk(payload int) Item { return flow(0).chunk(17, 15, Payload(payload)) }

// Small are the frames without a payload that a busy connection carries.
func Small() []Item {
	f := flow(0)
	return []Item{
		f.req(),
		f.item("LOG", typeLog, cborframe.Frame{Seq: 17, Meta: map[string]any{
			"level": "progress", "message": "half way", "progress": 0.5,
		}}),
		f.item("CREDIT", typeCredit, cborframe.Frame{
			StreamID: f.stream, Credit: some(16), Meta: map[string]any{"credit_dir": "response"},
		}),
		f.item("END", typeEnd, cborframe.Frame{Seq: 18, EOF: yes(), Meta: map[string]any{"exit_code": 0}}),
	}
}

// Payload returns bytes of which no two neighbours are alike.
func Payload(size int) []byte {
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(i*7 + i>>8)
	}
	return b
}

func checksum(payload []byte) *uint64 {
	h := fnv.New64a()
	h.Write(payload)
	return some(h.Sum64())
}

func some(n uint64) *uint64 { return &n }

func yes() *bool {
	b := true
	return &b
}
