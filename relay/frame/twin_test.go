package frame_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"unicode/utf8"

	"github.com/fxamacker/cbor/v2"

	"github.com/cosim-go/cosim/relay/frame"
)

// FuzzDecodeLikeFxamacker compares the decoder with another one: fxamacker says what is well
// formed and what an item is, and the rules of a frame are applied to what it says.
func FuzzDecodeLikeFxamacker(f *testing.F) {
	addBodies(f)
	f.Fuzz(func(t *testing.T, body []byte) { expectLikeTwin(t, body) })
}

// TestDecodeLikeFxamacker does the same for bodies made at random, of which a good part is legal.
func TestDecodeLikeFxamacker(t *testing.T) {
	seed := rand.Uint64()
	bodies := randomBodies{rand.New(rand.NewPCG(seed, 2))}
	kinds := map[frame.Kind]int{}
	count := 20_000
	if testing.Short() {
		count = 4000
	}
	for n := range count {
		body := bodies.next()
		kind := expectLikeTwin(t, body)
		kinds[kind]++
		if kind == "" && n%4 == 0 {
			expectStable(t, decoded(t, body), len(body))
		}
		if t.Failed() {
			t.Fatalf("seed %d, body %x", seed, body)
		}
	}
	for _, kind := range []frame.Kind{"", frame.ErrDecode, frame.ErrInvalidFrame} {
		if kinds[kind] < count/20 {
			t.Errorf("%d bodies of %d were of kind %q: the test says little", kinds[kind], count, kind)
		}
	}
}

// expectLikeTwin decodes a body in both ways and returns the kind of the error.
func expectLikeTwin(t *testing.T, body []byte) frame.Kind {
	t.Helper()
	var got frame.Frame
	err := frame.Decode(body, &got)
	want := twinDecode(t, body)
	if head, checked := frame.Check(body); fmt.Sprint(checked) != fmt.Sprint(err) || err == nil && head != got.Head() {
		t.Errorf("Check = %+v, %v, Decode = %+v, %v", head, checked, got.Head(), err)
	}
	if frame.KindOf(err) != want.kind {
		t.Errorf("Decode(%x) = %v of kind %q, want kind %q: %s", clip(body), err, frame.KindOf(err), want.kind, want.why)
	}
	if err != nil || want.kind != "" {
		return want.kind
	}
	if c := withoutMeta(&got); !reflect.DeepEqual(c, want.frame) {
		t.Errorf("Decode = %+v, want %+v", c, want.frame)
	}
	if !reflect.DeepEqual(metaItems(got.Meta), want.meta) {
		t.Errorf("meta = %x, want %x", metaItems(got.Meta), want.meta)
	}
	return ""
}

// metaItems returns the items of a meta by name; nil for no meta.
func metaItems(m frame.Meta) map[string][]byte {
	if !m.IsSet() {
		return nil
	}
	items := map[string][]byte{}
	for name := range m.All() {
		v, _ := m.Lookup(string(name))
		items[string(name)] = v.Raw()
	}
	return items
}

// A twin is what the other decoder makes of a body.
type twin struct {
	kind  frame.Kind // of the error; "" for a frame
	why   string
	frame frame.Frame       // without meta
	meta  map[string][]byte // nil when absent
}

func twinDecode(tb testing.TB, body []byte) twin {
	if err := deepMode().Wellformed(body); err != nil {
		return twin{kind: frame.ErrDecode, why: err.Error()}
	}
	if !textsAreUTF8(tb, body) {
		return twin{kind: frame.ErrDecode, why: "not UTF-8"}
	}
	if body[0]>>5 != 5 {
		return twin{kind: frame.ErrInvalidFrame, why: "no map"}
	}
	fields := map[uint64][]byte{}
	all := elements(tb, body)
	for i := 0; i < len(all); i += 2 {
		if n, ok := as[uint64](all[i], 0); ok {
			fields[n] = all[i+1]
		}
	}
	w := twin{}
	if why := twinRules(fields); why != "" {
		return twin{kind: frame.ErrInvalidFrame, why: why}
	}
	w.frame = twinFrame(fields)
	if item := fields[5]; len(item) > 0 && item[0]>>5 == 5 {
		w.meta = map[string][]byte{}
		entries := elements(tb, item)
		for i := 0; i < len(entries); i += 2 {
			if name, ok := as[string](entries[i], 3); ok {
				w.meta[name] = entries[i+1]
			}
		}
	}
	return w
}

// twinRules returns why well-formed fields are no frame.
func twinRules(fields map[uint64][]byte) string {
	if n, ok := as[uint64](fields[0], 0); !ok || n != 4 {
		return "version"
	}
	t, ok := as[uint64](fields[1], 0)
	if !ok || t == 2 || t > 15 {
		return "type"
	}
	if _, ok := twinID(fields[2]); !ok {
		return "id"
	}
	if item, there := fields[13]; there {
		if _, ok := twinID(item); !ok {
			return "routing id"
		}
	}
	for _, key := range []uint64{3, 7, 8, 14, 15, 16, 19} {
		if item := fields[key]; len(item) > 0 && item[0]>>5 == 1 {
			return fmt.Sprintf("negative key %d", key)
		}
	}
	for _, need := range []struct{ t, key uint64 }{{3, 14}, {3, 16}, {13, 19}} {
		if _, ok := as[uint64](fields[need.key], 0); t == need.t && !ok {
			return fmt.Sprintf("type %d without key %d", t, need.key)
		}
	}
	return ""
}

func twinFrame(fields map[uint64][]byte) frame.Frame {
	number := func(key uint64) frame.Optional[uint64] {
		n, ok := as[uint64](fields[key], 0)
		if !ok {
			return frame.Optional[uint64]{}
		}
		return frame.Some(n)
	}
	truth := func(key uint64) frame.Optional[bool] {
		if item := fields[key]; len(item) == 1 && (item[0] == 0xf4 || item[0] == 0xf5) {
			return frame.Some(item[0] == 0xf5)
		}
		return frame.Optional[bool]{}
	}
	text := func(key uint64) []byte {
		if s, ok := as[string](fields[key], 3); ok {
			return []byte(s)
		}
		return nil
	}
	payload, ok := as[[]byte](fields[6], 2)
	if ok && payload == nil {
		payload = []byte{}
	}
	id, _ := twinID(fields[2])
	routing, _ := twinID(fields[13])
	return frame.Frame{
		Type: frame.Type(number(1).Or(0)), ID: id, RoutingID: routing, Seq: number(3).Or(0), ContentType: text(4), Payload: payload,
		Len: number(7), Offset: number(8), EOF: truth(9), Cap: text(10), StreamID: text(11), MediaURN: text(12), ChunkIndex: number(14),
		ChunkCount: number(15), Checksum: number(16), IsSequence: truth(17), ForceKill: truth(18), Credit: number(19), Unbounded: truth(20),
	}
}

func twinID(item []byte) (frame.ID, bool) {
	if n, ok := as[uint64](item, 0); ok {
		return frame.Number(n), true
	}
	if b, ok := as[[]byte](item, 2); ok && len(b) == 16 {
		return frame.UUID([16]byte(b)), true
	}
	return frame.ID{}, false
}

// as reads an item of a major type.
func as[T any](item []byte, major byte) (value T, ok bool) {
	if len(item) == 0 || item[0]>>5 != major {
		return value, false
	}
	return value, cbor.Unmarshal(item, &value) == nil
}

// textsAreUTF8 reports whether every text in a well-formed item is UTF-8, piece by piece.
func textsAreUTF8(tb testing.TB, item []byte) bool {
	rest, open := behindHead(item)
	switch major := item[0] >> 5; {
	case major == 3 && !open:
		return utf8.Valid(rest)
	case major == 6:
		return textsAreUTF8(tb, rest)
	case major == 3, major == 4, major == 5:
		for _, element := range elements(tb, item) {
			if !textsAreUTF8(tb, element) {
				return false
			}
		}
	}
	return true
}

// tidied returns a well-formed item as an encoder writes it, with maps as they are.
func tidied(tb testing.TB, item []byte) []byte {
	rest, open := behindHead(item)
	switch major := item[0] >> 5; {
	case major == 7 && item[0] == 0xf7:
		return []byte{0xf6}
	case major == 7:
		return item
	case major == 4, major == 5:
		all := elements(tb, item)
		n := len(all)
		if major == 5 {
			n /= 2
		}
		out := headOf(tb, major, uint64(n))
		for _, element := range all {
			out = append(out, tidied(tb, element)...)
		}
		return out
	case open:
		return append(headOf(tb, major, uint64(len(bytes.Join(pieceContents(tb, item), nil)))), bytes.Join(pieceContents(tb, item), nil)...)
	case major == 2, major == 3:
		return append(headOf(tb, major, uint64(len(rest))), rest...)
	case major == 6:
		return append(headOf(tb, major, argument(item)), tidied(tb, rest)...)
	default:
		return headOf(tb, major, argument(item))
	}
}

func pieceContents(tb testing.TB, item []byte) (contents [][]byte) {
	for _, piece := range elements(tb, item) {
		content, _ := behindHead(piece)
		contents = append(contents, content)
	}
	return contents
}

// headOf returns the shortest head of a major type with a number.
func headOf(tb testing.TB, major byte, n uint64) []byte {
	head := mustMarshal(tb, n)
	head[0] |= major << 5
	return head
}

// argument returns the number in or behind an item's head.
func argument(item []byte) (n uint64) {
	if info := item[0] & 0x1f; info < 24 {
		return uint64(info)
	}
	head, _ := behindHead(item)
	for _, b := range item[1 : len(item)-len(head)] {
		n = n<<8 | uint64(b)
	}
	return n
}
