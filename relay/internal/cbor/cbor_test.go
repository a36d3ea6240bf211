package cbor_test

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	codec "github.com/fxamacker/cbor/v2"

	"github.com/cosim-go/cosim/relay/internal/cbor"
)

var numbers = []uint64{0, 1, 23, 24, 255, 256, 65535, 65536, math.MaxUint32, math.MaxUint32 + 1, math.MaxUint64}

// A codec of another make writes the same heads and reads the same numbers.
func TestHeadsAreTheShortest(t *testing.T) {
	for _, n := range numbers {
		want, err := codec.Marshal(n)
		if err != nil {
			t.Fatal(err)
		}
		for major := range byte(8) {
			want[0] = want[0]&^cbor.Mask | major<<5
			head := cbor.AppendHead([]byte("dst"), major<<5, n)[3:]
			if !bytes.Equal(head, want) {
				t.Errorf("AppendHead(%d, %d) = % x, want % x", major, n, head, want)
			}
			if size := cbor.HeadSize(head[0]); size != len(head) {
				t.Errorf("HeadSize(%#x) = %d, want %d", head[0], size, len(head))
			}
			if got := cbor.HeadNumber(head); got != n {
				t.Errorf("HeadNumber(% x) = %d, want %d", head, got, n)
			}
		}
	}
}

func TestHeadsThatAreReserved(t *testing.T) {
	for first := range 256 {
		item := append([]byte{byte(first)}, make([]byte, 8)...)
		reserved := first&^cbor.Mask > 27
		if first&^cbor.Mask == cbor.Indefinite {
			major := first & cbor.Mask
			reserved = major == cbor.Uint || major == cbor.Nint || major == cbor.Tag
			if got := cbor.HeadNumber(item[:1]); got != 0 {
				t.Errorf("HeadNumber(%#x) = %d", first, got)
			}
		}
		if size := cbor.HeadSize(byte(first)); (size == 0) != reserved {
			t.Errorf("HeadSize(%#x) = %d", first, size)
		}
	}
}

// A number that is cut is none.
func TestWideNumbersThatAreCut(t *testing.T) {
	for info, size := range map[uint64]int{24: 1, 25: 2, 26: 4, 27: 8} {
		b := []byte{0xff, 1, 2, 3, 4, 5, 6, 7, 8}[:1+size]
		want := uint64(0)
		fmt.Sscanf(fmt.Sprintf("%x", b[1:]), "%x", &want)
		if n, at := cbor.WideNumber(b, 1, info); n != want || at != len(b) {
			t.Errorf("WideNumber(% x, %d) = %d, %d, want %d", b, info, n, at, want)
		}
		for cut := 1; cut < len(b); cut++ {
			if n, at := cbor.WideNumber(b[:cut], 1, info); n != 0 || at != 0 {
				t.Errorf("WideNumber(% x, %d) = %d, %d", b[:cut], info, n, at)
			}
		}
	}
	for _, info := range []uint64{28, 29, 30, 31} {
		if _, at := cbor.WideNumber(make([]byte, 9), 0, info); at != 0 {
			t.Errorf("WideNumber of %d ends at %d", info, at)
		}
	}
}
