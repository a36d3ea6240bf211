package flow

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/internal/cbor"
)

func mustItems(t testing.TB, o *ItemsOptions) *Items {
	t.Helper()
	s, err := NewItems(streamStart(frame.Some(true)), o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// An item that comes in pieces of any size is put together with the meta of its first.
func TestItemsComeBackAsTheyWere(t *testing.T) {
	values := [][]byte{
		{0}, {0xf6}, []byte("\x63abc"), []byte("\x84\x01\x02\x82\x03\x04\x05"), []byte("\xa2\x61a\x01\x61b\x02"),
		[]byte("\xbf\x61a\x9f\xff\x5f\x41x\x40\xff\xf4\xff"), []byte("\xc1\x1a\x00\x01\x02\x03"),
		append(cbor.AppendHead(nil, cbor.Bytes, 1000), make([]byte, 1000)...), []byte("\x6bäöüß€"),
	}
	for size := 1; size <= 30; size++ {
		s := mustItems(t, nil)
		c := NewChunker(streamStart(frame.Some(true)), size)
		for i, value := range values {
			var b frame.MetaBuilder
			b.Int("number", int64(i))
			meta, err := b.Meta()
			if err != nil {
				t.Fatal(err)
			}
			pieces := collectFrames(t, c.Item(value, meta))
			for n, f := range pieces {
				item, whole, err := s.Chunk(f)
				if err != nil || whole != (n == len(pieces)-1) || s.Continued() != (n > 0) {
					t.Fatalf("pieces of %d: item %d, piece %d: whole %t, continued %t, %v", size, i, n, whole, s.Continued(), err)
				}
				if n == 0 && !whole {
					copy(f.Meta.Raw(), "xxxxxxxxxxxx") // its buffer is used for something else
				}
				if !whole {
					continue
				}
				if number, _ := item.Meta.Int("number"); !bytes.Equal(item.CBOR, value) || number != int64(i) {
					t.Fatalf("pieces of %d: got %x with number %d, want %x with %d", size, item.CBOR, number, value, i)
				}
			}
		}
		end := c.End()
		if err := s.End(&end); err != nil {
			t.Errorf("pieces of %d: End = %v", size, err)
		}
	}
}

func TestItemsRefuseWhatIsNoneOfThem(t *testing.T) {
	for _, test := range []struct {
		name   string
		chunks []string
		says   string
	}{
		{"parts of two items", []string{"\x82\x01", "\x02\x03"}, "chunk 1 holds parts of two items"},
		{"two items", []string{"\x01\x02"}, "chunk 0 holds parts of two items"},
		{"nothing", []string{""}, "chunk 0 holds nothing of an item"},
		{"nothing within an item", []string{"\x82", ""}, "chunk 1 holds nothing of an item"},
		{"an end within an item", []string{"\x01", "\x82\x01"}, "it ends within an item, after 2 bytes of it"},
		{"no CBOR", []string{"\x82", "\x1c"}, "chunk 1: a CBOR head that is reserved"},
		{"a text that is not UTF-8", []string{"\x62\xc3", "\x28"}, "chunk 1: a CBOR text that is not UTF-8"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := mustItems(t, nil)
			var err error
			for i, payload := range test.chunks {
				if err == nil {
					_, _, err = s.Chunk(chunk(uint64(i), payload))
				}
			}
			if err == nil {
				err = s.End(streamEnd(frame.Some(uint64(len(test.chunks)))))
			}
			refuses(t, "Chunk or End", err, test.says)
		})
	}
}

func TestItemsAreVerified(t *testing.T) {
	s := mustItems(t, nil)
	_, _, err := s.Chunk(chunk(1, "\x01"))
	refuses(t, "Chunk", err, "chunk 1 where chunk 0 is due")
	s = mustItems(t, nil)
	refuses(t, "End", s.End(streamEnd(frame.Some(uint64(1)))), "0 chunks came, 1 were sent")
}

func TestItemsAreBoundedEachByItself(t *testing.T) {
	const max = 10
	whole := "\x49123456789"
	for _, test := range []struct {
		name  string
		item  []string // the last of which is refused
		after int      // whole items before
	}{
		{"one byte too long", []string{"\x5f\x48", "12345678", "\xff"}, 3},
		{"one piece", []string{"\x4a1234567890"}, 0},
		{"announced bytes", []string{"\x5b\x7f\xff\xff\xff\xff\xff\xff\xff"}, 0},
		{"announced elements", []string{"\x9b\xff\xff\xff\xff\xff\xff\xff\xff"}, 1},
		{"announced entries", []string{"\xbb\xff\xff\xff\xff\xff\xff\xff\xff"}, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := mustItems(t, &ItemsOptions{MaxBytes: max})
			index := uint64(0)
			for range test.after {
				if _, ok, err := s.Chunk(chunk(index, whole)); !ok || err != nil {
					t.Fatal(ok, err)
				}
				index++
			}
			for i, payload := range test.item {
				_, _, err := s.Chunk(chunk(index, payload))
				index++
				if last := i == len(test.item)-1; errors.Is(err, ErrTooLong) != last || frame.KindOf(err) != "" {
					t.Errorf("Chunk(%x) = %v", payload, err)
				}
			}
		})
	}
}

// Each byte is walked over once: this takes minutes when the item is begun again with each piece.
func TestAnItemInManyPieces(t *testing.T) {
	item := append([]byte("\x9a\x00\x04\x00\x00"), make([]byte, 1<<18)...) // an array of zeros
	s := mustItems(t, nil)
	var got Item
	for i := range item {
		last, whole, err := s.Chunk(chunk(uint64(i), string(item[i:i+1])))
		if err != nil {
			t.Fatal(err)
		}
		if whole {
			got = last
		}
	}
	if !bytes.Equal(got.CBOR, item) {
		t.Errorf("got %d bytes, want %d", len(got.CBOR), len(item))
	}
}

func TestItemsInOneChunkDoNotAllocate(t *testing.T) {
	s := mustItems(t, nil)
	f := chunk(0, "\x83\x01\x02\x63abc")
	noAllocs(t, "Chunk", func() {
		for range 1000 {
			if _, whole, err := s.Chunk(f); !whole || err != nil {
				t.Fatal(whole, err)
			}
			f.ChunkIndex = frame.Some(f.ChunkIndex.Or(0) + 1)
		}
	})
}

func ExampleItems() {
	start := frame.NewStreamStart(frame.Number(1), []byte("out"), []byte("media:"))
	start.IsSequence = frame.Some(true)
	s, err := NewItems(&start, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	w := NewWindow(frame.DefaultCredit)
	c := NewChunker(&start, 4)
	for _, item := range []string{"\x01", "\x6b" + strings.Repeat("x", 11), "\xf5"} {
		for f := range c.Item([]byte(item), frame.Meta{}) {
			if err := w.Arrive(); err != nil {
				fmt.Println(err)
				return
			}
			item, whole, err := s.Chunk(f)
			if err != nil {
				fmt.Println(err)
				return
			}
			if s.Continued() {
				fmt.Println("grant", w.Continue())
			}
			if whole {
				fmt.Printf("%x\n", item.CBOR)
				w.Consume()
			}
		}
	}
	fmt.Println("grant", w.Flush())
	// Output:
	// 01
	// grant 1
	// grant 1
	// 6b7878787878787878787878
	// f5
	// grant 3
}
