package frame_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/cosim-go/cosim/relay/frame"
)

// entriesOf returns what stands in the map of a body, each entry as it is written.
func entriesOf(body []byte) (entries []restampEntry) {
	count, i := itemHead(body, 0)
	for ; count != 0 && body[i] != 0xff; count-- {
		key := itemEnd(body, i)
		value := itemEnd(body, key)
		entries = append(entries, restampEntry{body[i:key], body[key:value]})
		i = value
		if i == len(body) {
			break
		}
	}
	return entries
}

// itemHead returns the number in the head of a well-formed item, -1 for none, and where the head
// ends.
func itemHead(b []byte, i int) (n, end int) {
	switch info := int(b[i] & 0x1f); {
	case info < 24:
		return info, i + 1
	case info == 31:
		return -1, i + 1
	default:
		size := 1 << (info - 24)
		for _, c := range b[i+1 : i+1+size] {
			n = n<<8 | int(c)
		}
		return n, i + 1 + size
	}
}

// itemEnd returns where a well-formed item ends.
func itemEnd(b []byte, i int) int {
	major := b[i] >> 5
	n, end := itemHead(b, i)
	items := 0
	switch {
	case (major == 2 || major == 3) && n >= 0:
		return end + n
	case major == 6:
		items = 1
	case major == 4, major == 5, major == 2, major == 3:
		items = n * int(1+major/5)
	}
	if items < 0 {
		for b[end] != 0xff {
			end = itemEnd(b, end)
		}
		return end + 1
	}
	for range items {
		end = itemEnd(b, end)
	}
	return end
}

type restampEntry struct{ key, value []byte }

// is reports whether the entry is under a key, however its number is written.
func (e restampEntry) is(key int) bool {
	n, _ := itemHead(e.key, 0)
	return e.key[0]>>5 == 0 && n == key
}

// withoutStamps returns the entries without the number that counts, which is the last, and
// without the routing ids.
func withoutStamps(entries []restampEntry, number, route bool) (kept []restampEntry) {
	for _, e := range slices.Backward(entries) {
		switch {
		case route && e.is(13):
		case number && e.is(3):
			number = false
		default:
			kept = append(kept, e)
		}
	}
	return kept
}

// expectRestamped expects that a body which was checked comes out with a number and a routing id,
// and otherwise as it was.
func expectRestamped(t *testing.T, body []byte, seq uint64, xid frame.ID) {
	t.Helper()
	var before, after frame.Frame
	if err := frame.Decode(body, &before); err != nil {
		t.Fatal(err)
	}
	head := before.Head()
	in := bytes.Clone(body)
	wire, err := frame.AppendRestamped([]byte("dst"), body, &head, seq, xid)
	if err != nil {
		t.Fatalf("AppendRestamped(% x) = %v", body, err)
	}
	if !bytes.Equal(in, body) || string(wire[:3]) != "dst" {
		t.Fatal("AppendRestamped wrote to what is not its own")
	}
	wire = wire[3:]
	out := wire[frame.PrefixSize:]
	if size := binary.BigEndian.Uint32(wire); int(size) != len(out) {
		t.Fatalf("AppendRestamped(% x) = % x, prefix %d, want %d", body, wire, size, len(out))
	}
	if err := frame.Decode(out, &after); err != nil {
		t.Fatalf("AppendRestamped(% x) = % x: %v", body, out, err)
	}
	want := before
	if head.Type.Flow() {
		want.Seq = seq
	}
	added := want.RoutingID.IsZero() && !xid.IsZero()
	if added {
		want.RoutingID = xid
	}
	if !reflect.DeepEqual(&after, &want) {
		t.Fatalf("AppendRestamped(% x) = % x,\nwhich is %+v,\nwant %+v", body, out, after, want)
	}
	kept := withoutStamps(entriesOf(body), head.Type.Flow(), added)
	if got := withoutStamps(entriesOf(out), head.Type.Flow(), added); !reflect.DeepEqual(got, kept) {
		t.Fatalf("AppendRestamped(% x) = % x: other entries", body, out)
	}
	if (body[0] == 0xbf) != (out[0] == 0xbf) {
		t.Fatalf("AppendRestamped(% x) = % x: another kind of map", body, out)
	}
}

var restampNumbers = []uint64{0, 1, 23, 24, 255, 256, 65535, 65536, 1 << 32, math.MaxUint64}

func restampIDs() []frame.ID {
	return []frame.ID{{}, frame.Number(0), frame.Number(300), frame.NewUUID()}
}

func TestRestampedFramesDifferInNumberAndRoutingIDAlone(t *testing.T) {
	var bodies [][]byte
	v := loadVectors(t)
	for _, c := range append(v.Valid, v.Provisional...) {
		bodies = append(bodies, c.Hex)
	}
	for _, s := range samples(t) {
		bodies = append(bodies, encoded(t, &s.frame))
	}
	for _, body := range bodies {
		for _, xid := range restampIDs() {
			for _, seq := range restampNumbers {
				expectRestamped(t, body, seq, xid)
			}
		}
	}
}

// Random bodies have keys in any order, twice, or in long heads, and maps without a length.
func TestRestampedFramesOfOddBodies(t *testing.T) {
	r := randomBodies{rand.New(rand.NewPCG(4, 1))}
	legal := 0
	for range 60_000 {
		body := r.next()
		if _, err := frame.Check(body); err != nil {
			continue
		}
		legal++
		expectRestamped(t, body, r.number64(), restampIDs()[r.IntN(4)])
	}
	if legal < 10_000 {
		t.Errorf("%d legal bodies", legal)
	}
}

func (r randomBodies) number64() uint64 { return r.Uint64() >> r.IntN(64) }

func TestRestampedFrameOfEachOddShape(t *testing.T) {
	const id = "02 50 00112233445566778899aabbccddeeff"
	for name, hex := range map[string]string{
		"no number":                          "a3 00 04 01 05 " + id,
		"no number, a payload":               "a4 00 04 01 05 " + id + "06 42 abcd",
		"the number last":                    "a5 00 04 01 05 " + id + "06 42 abcd 03 19 0102",
		"the number first":                   "a4 03 07 00 04 01 05 " + id,
		"the number twice":                   "a5 00 04 01 05 " + id + "03 01 03 01",
		"the number twice, elsewhere":        "a6 00 04 01 05 " + id + "03 01 06 41 00 03 02",
		"a number that is a text":            "a4 00 04 01 05 " + id + "03 61 61",
		"a number in a long head":            "a4 00 04 01 05 " + id + "03 1b 0000000000000007",
		"a key in a long head":               "a4 00 04 01 05 " + id + "18 03 07",
		"a map without a length":             "bf 00 04 01 05 " + id + "03 07 ff",
		"a map without a length or number":   "bf 00 04 01 05 " + id + "ff",
		"a map's head of two bytes":          "b8 04 00 04 01 05 " + id + "03 07",
		"a routing id":                       "a5 00 04 01 05 " + id + "03 07 0d 19 1234",
		"a routing id before the number":     "a5 00 04 01 05 " + id + "0d 18 ff 03 07",
		"unknown keys and texts for keys":    "a7 00 04 01 05 " + id + "03 07 16 f6 61 61 80 18 63 a1 01 02",
		"entries that make the head longer":  "b7 00 04 01 05 " + id + "03 07" + entries23(),
		"entries that nearly make it longer": "b6 00 04 01 05 " + id + "03 07" + entries22(),
		"frames outside of flows":            "a4 00 04 01 0c " + id + "03 00",
		"frames outside of flows, no number": "a3 00 04 01 0c " + id,
	} {
		t.Run(name, func(t *testing.T) {
			for _, xid := range restampIDs() {
				for _, seq := range restampNumbers {
					expectRestamped(t, unhex(t, hex), seq, xid)
				}
			}
		})
	}
}

// entries23 returns 19 entries that make a map of four one of 23.
func entries23() string { return entries22() + "20 00" }

func entries22() string {
	text := ""
	for _, key := range []string{"30", "31", "32", "33", "34", "35", "36", "37", "21", "22", "23", "24", "25", "26", "27", "28", "29", "2a"} {
		text += key + " 00"
	}
	return text
}

// A relay checks frames whose keys ascend in half of the time of others.
func TestRestampingKeepsAscendingKeys(t *testing.T) {
	for _, s := range samples(t) {
		body := encoded(t, &s.frame)
		if !s.frame.RoutingID.IsZero() {
			continue
		}
		head := s.frame.Head()
		wire, err := frame.AppendRestamped(nil, body, &head, s.frame.Seq, frame.Number(5))
		if err != nil {
			t.Fatal(err)
		}
		want := s.frame
		want.RoutingID = frame.Number(5)
		if canonical := encoded(t, &want); !bytes.Equal(wire[frame.PrefixSize:], canonical) {
			t.Errorf("%s: AppendRestamped = % x, want % x", s.name, wire[frame.PrefixSize:], canonical)
		}
	}
}

func TestRestampingFailsAboveTheHardLimit(t *testing.T) {
	f := frame.Frame{Type: frame.TypeLog, ID: frame.NewUUID(), Payload: make([]byte, frame.HardMaxFrame-40)}
	body := encoded(t, &f)
	f.Payload = append(f.Payload, make([]byte, frame.HardMaxFrame-len(body))...)
	body = encoded(t, &f)
	head := f.Head()
	if wire, err := frame.AppendRestamped(nil, body, &head, 23, frame.ID{}); err != nil || len(wire) != frame.PrefixSize+frame.HardMaxFrame {
		t.Errorf("AppendRestamped of %d bytes = %d bytes, %v", len(body), len(wire), err)
	}
	dst := []byte("dst")
	got, err := frame.AppendRestamped(dst, body, &head, 24, frame.ID{})
	if frame.KindOf(err) != frame.ErrFrameTooLarge || string(got) != "dst" {
		t.Errorf("AppendRestamped of %d bytes with a longer number = %d bytes, %v", len(body), len(got), err)
	}
}

func TestRestampingWhatIsNoMap(t *testing.T) {
	for _, body := range []string{"", "01", "a1", "a1 03", "81 03", "bf 03 01"} {
		got, err := frame.AppendRestamped([]byte("dst"), unhex(t, body), &frame.Head{Type: frame.TypeLog}, 1, frame.ID{})
		if frame.KindOf(err) != frame.ErrInvalidFrame || string(got) != "dst" {
			t.Errorf("AppendRestamped(%s) = % x, %v", body, got, err)
		}
	}
}

func TestRestampingDoesNotAllocate(t *testing.T) {
	dst := make([]byte, 0, 1<<20)
	odd := unhex(t, "bf 00 04 01 05 02 07 06 41 00 ff")
	for _, s := range append(samples(t), sample{name: "odd"}) {
		body := odd
		if s.name != "odd" {
			body = encoded(t, &s.frame)
		}
		head, err := frame.Check(body)
		if err != nil {
			t.Fatal(err)
		}
		xid := frame.Number(1 << 20)
		if n := testing.AllocsPerRun(100, func() {
			if _, err := frame.AppendRestamped(dst, body, &head, 1000, xid); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s: AppendRestamped allocates %v times", s.name, n)
		}
	}
}

// FuzzAppendRestamped expects the same of every body that Check takes.
func FuzzAppendRestamped(f *testing.F) {
	v := loadVectors(f)
	for _, c := range append(v.Valid, v.Provisional...) {
		f.Add([]byte(c.Hex), uint64(300), uint8(2))
	}
	for _, s := range samples(f) {
		if len(s.frame.Payload) < 4<<10 {
			f.Add(encoded(f, &s.frame), uint64(1), uint8(3))
		}
	}
	r := randomBodies{rand.New(rand.NewPCG(4, 2))}
	for range 100 {
		f.Add(r.next(), r.number64(), uint8(r.IntN(4)))
	}
	f.Fuzz(func(t *testing.T, body []byte, seq uint64, xid uint8) {
		if _, err := frame.Check(body); err != nil {
			head := frame.Head{Type: frame.TypeLog}
			frame.AppendRestamped(nil, body, &head, seq, frame.Number(1)) // must not panic
			return
		}
		expectRestamped(t, body, seq, restampIDs()[xid%4])
	})
}

// BenchmarkRestamp measures a frame with another number, x/memcpy beside copying it.
func BenchmarkRestamp(b *testing.B) {
	for _, c := range benchSizes {
		b.Run(c.name, func(b *testing.B) {
			f := chunk(c.size)
			body, head := encoded(b, &f), f.Head()
			buf, copied := make([]byte, 0, len(body)+64), make([]byte, len(body))
			restamp := func() { buf, _ = frame.AppendRestamped(buf[:0], body, &head, 300, sampleXID) }
			measure(b, len(body), restamp, func() {
				b.ReportMetric(ratio(batch(restamp), batch(func() { copy(copied, body) })), "x/memcpy")
			})
		})
	}
}
