package flow

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/internal/cbor"
)

// cborSeeds are items, good and bad.
var cborSeeds = []string{
	"\x00", "\x17", "\x18\x18", "\x18\x00", "\x19\x01\x00", "\x1a\x00\x01\x00\x00", "\x1b\x00\x00\x00\x01\x00\x00\x00\x00",
	"\x1c", "\x1f", "\x20", "\x3b\xff\xff\xff\xff\xff\xff\xff\xff", "\x3f", "\x40", "\x41a", "\x5f\xff", "\x5f\x41a\x58\x01b\xff",
	"\x5f\x61a\xff", "\x5f\x5f\xff\xff", "\x5f\xc1\x41a\xff", "\x60", "\x63abc", "\x62\xc3\xbc", "\x61\xc3", "\x64\xf0\x9f\x98\x80", "\x63\xed\xa0\x80",
	"\x7f\x61a\x62\xc3\xbc\xff", "\x7f\x61\xc3\x61\xbc\xff", "\x7f\x41a\xff", "\x63\xef\xbf\xbd", "\x62\xc3\x28", "\x80", "\x82\x01\x02", "\x82\x01", "\x9f\xff",
	"\x9f\x01\x82\x02\x03\xff", "\x9f\xc1\xff", "\xa0", "\xa1\x01\x02", "\xa1\x01", "\xa2\x01\x02\x03\xa1\x04\x05", "\xbf\xff", "\xbf\x01\x02\xff",
	"\xbf\x01\xff", "\xbf\x01\xa0\x02\x80\xff", "\xbf\x01\x5f\x41a\xff\xff", "\xc0\x00", "\xc1\xc2\xc3\x00", "\xc1", "\xc1\xff", "\xdf", "\xd8\x20\x41a", "\xe0", "\xf4", "\xf5", "\xf6", "\xf7", "\xf8\x1f",
	"\xf8\x20", "\xf8\xff", "\xf9\x3c\x00", "\xfa\x00\x00\x00\x00", "\xfb\x00\x00\x00\x00\x00\x00\x00\x00", "\xfc", "\xff", "\x5b\xff\xff\xff\xff\xff\xff\xff\xff", "\x9b\xff\xff\xff\xff\xff\xff\xff\xff",
	"\x82\xa1\x61a\x9f\x41b\xff\x7f\x63\xe2\x82\xac\xff",
}

// walkAll walks over an item that ends where pieces of the given sizes end, the last again and
// again.
func walkAll(item []byte, sizes ...int) (whole bool, err error) {
	w := walker{limit: 1 << 30}
	for i := 0; len(item) > 0; i++ {
		part := item[:min(max(sizes[min(i, len(sizes)-1)], 1), len(item))]
		n, whole, err := w.walk(part)
		if err != nil {
			return false, err
		}
		item = item[n:]
		if whole {
			return len(item) == 0, nil
		}
	}
	return false, nil
}

// isItem says what package frame thinks of an item two levels down.
func isItem(item []byte) bool {
	var b frame.MetaBuilder
	b.Raw("item", item)
	_, err := b.Meta()
	return err == nil
}

// twoDown puts an item two levels down.
func twoDown(item []byte) []byte { return append([]byte("\x81\x81"), item...) }

func TestAWalkerThinksAsPackageFrameDoes(t *testing.T) {
	for _, seed := range cborSeeds {
		item := []byte(seed)
		want := isItem(item)
		for first := 1; first <= len(item)+2; first++ {
			for rest := 1; rest <= len(item); rest++ {
				whole, err := walkAll(twoDown(item), first, rest)
				if whole != want || whole && err != nil {
					t.Errorf("%x in parts of %d and %d: %t, %v, want %t", item, first, rest, whole, err, want)
				}
			}
		}
	}
}

// What is cut off is not whole, and nothing is wrong with it.
func TestAnItemThatIsCutIsUnfinished(t *testing.T) {
	for _, seed := range cborSeeds {
		if !isItem([]byte(seed)) {
			continue
		}
		for n := range len(seed) {
			if whole, err := walkAll([]byte(seed[:n]), 1); whole || err != nil {
				t.Errorf("%x: %t, %v", seed[:n], whole, err)
			}
		}
	}
}

func TestNestingIsBounded(t *testing.T) {
	repeat := strings.Repeat
	for _, test := range []struct {
		name string
		item string
		ok   bool
	}{
		{"64 arrays", repeat("\x81", 64) + "\x00", true},
		{"65 arrays", repeat("\x81", 65) + "\x00", false},
		{"64 arrays, the last empty", repeat("\x81", 63) + "\x80", true},
		{"65 arrays, the last empty", repeat("\x81", 64) + "\x80", false},
		{"64 arrays without length", repeat("\x9f", 64) + repeat("\xff", 64), true},
		{"65 arrays without length", repeat("\x9f", 65) + repeat("\xff", 65), false},
		{"65 maps", repeat("\xa1\x00", 65) + "\x00", false},
		{"a string in pieces in 64 arrays", repeat("\x81", 64) + "\x5f\x41a\xff", true},
		{"64 arrays in a tag", "\xc1" + repeat("\x81", 64) + "\x00", true},
		{"64 arrays in two tags", "\xc1\xc1" + repeat("\x81", 64) + "\x00", false},
		{"a tag around each of 64 arrays", repeat("\xc1\x81", 64) + "\x00", true},
		{"65 tags", repeat("\xc1", 65) + "\x00", true},
		{"66 tags", repeat("\xc1", 66) + "\x00", false},
	} {
		if whole, err := walkAll([]byte(test.item), 3); whole != test.ok || (err == nil) != test.ok {
			t.Errorf("%s: %t, %v, want %t", test.name, whole, err, test.ok)
		}
	}
}

// randomItem returns an item with most features of CBOR.
func randomItem(r *rand.Rand, depth int) []byte {
	kinds := 8
	if depth == 0 {
		kinds = 4
	}
	var b []byte
	switch r.IntN(kinds) {
	case 0:
		return []byte{byte(r.IntN(24))}
	case 1:
		return append(cbor.AppendHead(nil, cbor.Bytes, 300), make([]byte, 300)...)
	case 2:
		text := strings.Repeat("aü€😀", r.IntN(4))
		return append([]byte{cbor.Text | 24, byte(len(text))}, text...)
	case 3:
		return []byte("\xfb\x00\x00\x00\x00\x00\x00\x00\x00")
	case 4:
		b = []byte{cbor.Tag | byte(r.IntN(20))}
		return append(b, randomItem(r, depth-1)...)
	case 5:
		return []byte("\x7f\x62\xc3\xbc\x60\xff")
	case 6:
		n := r.IntN(4)
		b = []byte{cbor.Array | byte(n)}
		for range n {
			b = append(b, randomItem(r, depth-1)...)
		}
		return b
	}
	b = []byte{cbor.Map | cbor.Indefinite}
	for range 2 * r.IntN(4) {
		b = append(b, randomItem(r, depth-1)...)
	}
	return append(b, cbor.Break)
}

func TestRandomItemsInRandomParts(t *testing.T) {
	r := random(t)
	for range 3000 {
		item := randomItem(r, 5)
		if whole, err := walkAll(item, 1+r.IntN(len(item)), 1+r.IntN(len(item)), 1+r.IntN(5)); !whole || err != nil {
			t.Fatalf("%x: %t, %v", item, whole, err)
		}
		broken := bytes.Clone(item)
		broken[r.IntN(len(item))] ^= 1 << r.IntN(8)
		if whole, err := walkAll(twoDown(broken), 1+r.IntN(5)); whole != isItem(broken) {
			t.Fatalf("%x: %t, %v, want %t", broken, whole, err, isItem(broken))
		}
	}
}

// FuzzItem compares what a walker thinks of an item in parts with what package frame thinks of
// it as a whole.
func FuzzItem(f *testing.F) {
	for _, seed := range cborSeeds {
		f.Add([]byte(seed), byte(1), byte(3))
	}
	f.Fuzz(func(t *testing.T, item []byte, first, rest byte) {
		if whole, err := walkAll(twoDown(item), int(first), int(rest)); whole != isItem(item) {
			t.Errorf("%x: %t, %v, want %t", item, whole, err, isItem(item))
		}
	})
}
