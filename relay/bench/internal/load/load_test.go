package load

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/cosim-go/cosim/relay/bench/internal/cborframe"
)

func TestTapeNumbersEveryRequestFromNought(t *testing.T) {
	for _, size := range Sizes {
		tape := NewTape(size)
		next := map[string]uint64{}
		for _, item := range tape.Items {
			id := string(item.Frame.ID)
			if item.Frame.Seq != next[id] {
				t.Fatalf("payload %d: %s of %s has seq %d, want %d", size, item.Name, id, item.Frame.Seq, next[id])
			}
			next[id]++
			if item.Frame.Type == typeEnd {
				delete(next, id)
			}
		}
		if len(next) != 0 {
			t.Errorf("payload %d: requests %v do not end", size, next)
		}
	}
}

func TestBatchesAreTheItemsInOrder(t *testing.T) {
	for _, size := range Sizes {
		tape := NewTape(size)
		var items, batches []byte
		chunks, counted := 0, 0
		for _, item := range tape.Items {
			items = append(items, item.Wire...)
			if item.Frame.Type == typeChunk {
				chunks++
			}
		}
		for _, batch := range tape.Batches {
			batches = append(batches, batch.Wire...)
			counted += batch.Chunks
		}
		if !bytes.Equal(items, batches) {
			t.Errorf("payload %d: the batches are not the items one after the other", size)
		}
		if counted != chunks {
			t.Errorf("payload %d: batches hold %d chunks, want %d", size, counted, chunks)
		}
	}
}

func TestItemsDecodeToTheirFrames(t *testing.T) {
	codec, err := cborframe.NewCodec()
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range append(Small(), Chunk(64)) {
		if n := binary.BigEndian.Uint32(item.Wire); int(n) != len(item.Body()) {
			t.Errorf("%s: length %d before a body of %d bytes", item.Name, n, len(item.Body()))
		}
		var got cborframe.Frame
		if err := codec.Unmarshal(item.Body(), &got); err != nil {
			t.Fatal(err)
		}
		if again := cborframe.Body(&got); !bytes.Equal(again, item.Body()) {
			t.Errorf("%s: decoded and encoded again: %x, want %x", item.Name, again, item.Body())
		}
	}
}
