package flow

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"slices"
	"testing"
)

type checksumCase struct {
	Hex      string
	Checksum uint64
}

// readChecksums returns the payloads and sums of testdata/checksums.json.
func readChecksums(t testing.TB) (payloads [][]byte, sums []uint64) {
	t.Helper()
	text, err := os.ReadFile("testdata/checksums.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Cases []checksumCase }
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	for _, c := range file.Cases {
		payload, err := hex.DecodeString(c.Hex)
		if err != nil {
			t.Fatal(err)
		}
		payloads, sums = append(payloads, payload), append(sums, c.Checksum)
	}
	if len(payloads) == 0 {
		t.Fatal("no cases")
	}
	return payloads, sums
}

func TestChecksumVectors(t *testing.T) {
	payloads, want := readChecksums(t)
	for i, p := range payloads {
		if got := Checksum(p); got != want[i] {
			t.Errorf("Checksum(%x) = %d, want %d", p, got, want[i])
		}
	}
	got := make([]uint64, len(want))
	Checksums(got, payloads)
	if !slices.Equal(got, want) {
		t.Errorf("Checksums = %d, want %d", got, want)
	}
}

func TestChecksumOfNothing(t *testing.T) {
	const want = 0xcbf29ce484222325
	if got := Checksum(nil); got != want {
		t.Errorf("Checksum(nil) = %#x, want %#x", got, uint64(want))
	}
	Checksums(nil, nil)
	sums := make([]uint64, 5)
	Checksums(sums, [][]byte{nil, {}, nil, nil})
	if wantAll := []uint64{want, want, want, want, 0}; !slices.Equal(sums, wantAll) {
		t.Errorf("Checksums = %#x, want %#x", sums, wantAll)
	}
}

func TestChecksumsOfAnyNumberAndLengths(t *testing.T) {
	r := random(t)
	for range 3000 {
		payloads := make([][]byte, r.IntN(12))
		want := make([]uint64, len(payloads))
		for i := range payloads {
			payloads[i] = randomCode(r, r.IntN(4)*r.IntN(40))
			h := fnv.New64a()
			h.Write(payloads[i])
			want[i] = h.Sum64()
		}
		got := make([]uint64, len(payloads))
		Checksums(got, payloads)
		if !slices.Equal(got, want) {
			t.Fatalf("Checksums(%x) = %x, want %x", payloads, got, want)
		}
	}
}

func TestChecksumsDoesNotAllocate(t *testing.T) {
	payloads := [][]byte{make([]byte, 10), make([]byte, 20), make([]byte, 30), make([]byte, 40), make([]byte, 50)}
	sums := make([]uint64, len(payloads))
	noAllocs(t, "Checksums", func() { Checksums(sums, payloads) })
}

func ExampleChecksum() {
	fmt.Println(Checksum([]byte("foobar")))
	// Output: 9625390261332436968
}
