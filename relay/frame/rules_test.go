package frame_test

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/cosim-go/cosim/relay/frame"
)

// body returns a frame's map with the entries given, each a key and what is under it in
// hexadecimal; spaces do not count.
func body(tb testing.TB, entries ...string) []byte {
	tb.Helper()
	return append([]byte{0xa0 | byte(len(entries))}, unhex(tb, strings.Join(entries, ""))...)
}

// heartbeat returns the smallest frame there is, with more entries.
func heartbeat(tb testing.TB, entries ...string) []byte {
	tb.Helper()
	return body(tb, append([]string{"00 04", "01 07", "02 01"}, entries...)...)
}

func unhex(tb testing.TB, text string) []byte {
	tb.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// nested returns an item within some arrays.
func nested(arrays int) string { return strings.Repeat("81", arrays) + "00" }

// Requirement: R2
func TestDecodeRefuses(t *testing.T) {
	const decode, invalid = frame.ErrDecode, frame.ErrInvalidFrame
	chunk := func(entries ...string) []byte {
		return body(t, append([]string{"00 04", "01 03", "02 01"}, entries...)...)
	}
	for _, c := range []struct {
		name string
		body []byte
		want frame.Kind
	}{
		{"nothing at all", nil, decode},
		{"a map cut before its entries", unhex(t, "a4"), decode},
		{"a cut head", heartbeat(t, "07 19 01"), decode},
		{"reserved head 28", heartbeat(t, "07 1c"), decode},
		{"reserved head 30 in an unknown key", heartbeat(t, "18 63 fe"), decode},
		{"an integer of indefinite length", heartbeat(t, "07 1f"), decode},
		{"a tag of indefinite length", heartbeat(t, "18 63 df 00"), decode},
		{"two-byte simple value 24", heartbeat(t, "18 63 f8 18"), decode},
		{"two-byte simple value 31", heartbeat(t, "18 63 f8 1f"), decode},
		{"two-byte true", heartbeat(t, "09 f8 15"), decode},
		{"a break for a value", heartbeat(t, "07 ff"), decode},
		{"a break for a key", heartbeat(t, "ff 00"), decode},
		{"a break in an array with a length", heartbeat(t, "18 63 81 ff"), decode},
		{"a break after a key of an indefinite map", unhex(t, "bf 00 04 01 07 02 01 03 ff"), decode},
		{"a break after a key of an indefinite map in meta", heartbeat(t, "05 bf 61 61 ff"), decode},
		{"an indefinite map without a break", unhex(t, "bf 00 04 01 07 02 01"), decode},
		{"content_type not UTF-8", heartbeat(t, "04 61 ff"), decode},
		{"cap not UTF-8", heartbeat(t, "0a 62 c3 28"), decode},
		{"a piece of a text that is not UTF-8 by itself", heartbeat(t, "0b 7f 61 c3 61 a4 ff"), decode},
		{"the last of eight bytes of a text", heartbeat(t, "04 68 61 61 61 61 61 61 61 ff"), decode},
		{"a text of meta that is not UTF-8", heartbeat(t, "05 a1 61 61 61 ff"), decode},
		{"a name of meta that is not UTF-8", heartbeat(t, "05 a1 61 ff 00"), decode},
		{"a text deep in meta that is not UTF-8", heartbeat(t, "05 a1 61 61 81 a1 00 61 ff"), decode},
		{"a text key that is not UTF-8", heartbeat(t, "61 ff 00"), decode},
		{"a text under a key of another kind that is not UTF-8", heartbeat(t, "07 61 ff"), decode},
		{"an earlier duplicate that is not UTF-8", heartbeat(t, "04 61 ff", "04 61 61"), decode},
		{"a surrogate in a text", heartbeat(t, "04 63 ed a0 80"), decode},
		{"a piece of bytes in a text", heartbeat(t, "04 7f 41 61 ff"), decode},
		{"a piece of text in bytes", heartbeat(t, "06 5f 61 61 ff"), decode},
		{"a piece in pieces", heartbeat(t, "06 5f 5f 41 61 ff ff"), decode},
		{"pieces for a piece", heartbeat(t, "06 5f 5f ff"), decode},
		{"a payload of 2^32-1 bytes", heartbeat(t, "06 5a ff ff ff ff 61"), decode},
		{"a payload of 2^64-1 bytes", heartbeat(t, "06 5b ff ff ff ff ff ff ff ff 61"), decode},
		{"an array of 2^64-1 items", heartbeat(t, "18 63 9b ff ff ff ff ff ff ff ff 00"), decode},
		{"a meta of 2^64-1 entries", heartbeat(t, "05 bb ff ff ff ff ff ff ff ff 61 61 00"), decode},
		{"a frame of 2^64-1 entries", unhex(t, "bb ff ff ff ff ff ff ff ff 00 04 01 07 02 01"), decode},
		{"a byte after a frame as it is usually written", append(body(t, "00 04", "01 07", "02 50"+strings.Repeat("11", 16)), 0), decode},
		{"a byte after the map", append(heartbeat(t), 0), decode},
		{"a second map after the map", append(heartbeat(t), heartbeat(t)...), decode},
		{"a map that says less than there is", unhex(t, "a2 00 04 01 07 02 50"+strings.Repeat("11", 16)), decode},
		{"a map that says more than there is", unhex(t, "a4 00 04 01 07 02 50"+strings.Repeat("11", 16)), decode},
		{"a map of 24 that says more than there is", unhex(t, "b8 18 00 04 01 07 02 50"+strings.Repeat("11", 16)), decode},
		{"a byte after something that is no map", unhex(t, "00 00"), decode},
		{"level 65 under an unknown key", heartbeat(t, "18 63"+nested(64)), decode},
		{"level 65 under a known key", heartbeat(t, "07"+nested(64)), decode},
		{"level 65 in meta", heartbeat(t, "05 a1 61 61"+nested(63)), decode},
		{"level 65 in a key", heartbeat(t, nested(64)+"00"), decode},
		{"level 65 of indefinite arrays", heartbeat(t, "18 63"+strings.Repeat("9f", 64)+strings.Repeat("ff", 64)), decode},
		{"level 65 of maps", heartbeat(t, "18 63"+strings.Repeat("a1 00", 64)+"00"), decode},
		{"level 65 by tags within tags", heartbeat(t, "18 63"+strings.Repeat("c1", 65)+"00"), decode},
		{"65 arrays and no map", unhex(t, nested(65)), decode},
		{"a malformed body of another version", append(heartbeat(t, "00 03"), 0), decode},

		{"an array", unhex(t, "80"), invalid},
		{"an integer", unhex(t, "04"), invalid},
		{"a null", unhex(t, "f6"), invalid},
		{"a tag round a map", append(unhex(t, "d9 d9f7"), heartbeat(t)...), invalid},
		{"an empty map", unhex(t, "a0"), invalid},
		{"an empty indefinite map", unhex(t, "bf ff"), invalid},

		{"no version", body(t, "01 07", "02 01"), invalid},
		{"version as text", body(t, "00 61 34", "01 07", "02 01"), invalid},
		{"version as float", body(t, "00 f9 44 00", "01 07", "02 01"), invalid},
		{"version null", body(t, "00 f6", "01 07", "02 01"), invalid},
		{"version 3", body(t, "00 03", "01 07", "02 01"), invalid},
		{"version 5", body(t, "00 05", "01 07", "02 01"), invalid},
		{"version 260", body(t, "00 19 01 04", "01 07", "02 01"), invalid},
		{"version 2^32+4", body(t, "00 1b 00 00 00 01 00 00 00 04", "01 07", "02 01"), invalid},
		{"version -5", body(t, "00 24", "01 07", "02 01"), invalid},
		{"version 4 and then 3", body(t, "00 04", "01 07", "02 01", "00 03"), invalid},

		{"no type", body(t, "00 04", "02 01"), invalid},
		{"type as text", body(t, "00 04", "01 61 37", "02 01"), invalid},
		{"type null", body(t, "00 04", "01 f6", "02 01"), invalid},
		{"type negative", body(t, "00 04", "01 26", "02 01"), invalid},
		{"type 2", body(t, "00 04", "01 02", "02 01"), invalid},
		{"type 16", body(t, "00 04", "01 10", "02 01"), invalid},
		{"type 255", body(t, "00 04", "01 18 ff", "02 01"), invalid},
		{"type 259", body(t, "00 04", "01 19 01 03", "02 01", "0e 00", "10 00"), invalid},
		{"type 2^64-1", body(t, "00 04", "01 1b ff ff ff ff ff ff ff ff", "02 01"), invalid},

		{"no id", body(t, "00 04", "01 07"), invalid},
		{"id of 15 bytes", body(t, "00 04", "01 07", "02 4f"+strings.Repeat("00", 15)), invalid},
		{"id of 17 bytes", body(t, "00 04", "01 07", "02 51"+strings.Repeat("00", 17)), invalid},
		{"id of 15 bytes in pieces", body(t, "00 04", "01 07", "02 5f 41 00 4e"+strings.Repeat("00", 14)+"ff"), invalid},
		{"id of 17 bytes in pieces", body(t, "00 04", "01 07", "02 5f 50"+strings.Repeat("00", 16)+"41 00 ff"), invalid},
		{"id of no bytes in pieces", body(t, "00 04", "01 07", "02 5f ff"), invalid},
		{"id negative", body(t, "00 04", "01 07", "02 20"), invalid},
		{"id null", body(t, "00 04", "01 07", "02 f6"), invalid},
		{"id undefined", body(t, "00 04", "01 07", "02 f7"), invalid},
		{"id as a tagged UUID", body(t, "00 04", "01 07", "02 d8 25 50"+strings.Repeat("00", 16)), invalid},
		{"id good and then bad", heartbeat(t, "02 f6"), invalid},

		{"routing id of 8 bytes", heartbeat(t, "0d 48"+strings.Repeat("00", 8)), invalid},
		{"routing id negative", heartbeat(t, "0d 20"), invalid},
		{"routing id as text", heartbeat(t, "0d 61 35"), invalid},
		{"routing id null", heartbeat(t, "0d f6"), invalid},
		{"routing id good and then null", heartbeat(t, "0d 05", "0d f6"), invalid},

		{"seq negative", heartbeat(t, "03 20"), invalid},
		{"len negative", heartbeat(t, "07 20"), invalid},
		{"offset negative", heartbeat(t, "08 20"), invalid},
		{"chunk_index negative", heartbeat(t, "0e 20"), invalid},
		{"chunk_count negative", heartbeat(t, "0f 3b ff ff ff ff ff ff ff ff"), invalid},
		{"checksum negative", heartbeat(t, "10 20"), invalid},
		{"credit negative", heartbeat(t, "13 20"), invalid},
		{"len negative in a frame as it is usually written", body(t, "00 04", "01 07", "02 50"+strings.Repeat("11", 16), "03 00", "07 20"), invalid},
		{"len good and then negative", heartbeat(t, "07 01", "07 20"), invalid},

		{"a chunk without index", chunk("10 00"), invalid},
		{"a chunk with an index that is text", chunk("0e 61 30", "10 00"), invalid},
		{"a chunk with an index that is null", chunk("0e f6", "10 00"), invalid},
		{"a chunk with an index that is a tagged number", chunk("0e c1 00", "10 00"), invalid},
		{"a chunk whose last index is unreadable", chunk("0e 00", "10 00", "0e f6"), invalid},
		{"a chunk without checksum", chunk("0e 00"), invalid},
		{"a chunk with a checksum that is a float", chunk("0e 00", "10 f9 00 00"), invalid},
		{"a credit without credit", body(t, "00 04", "01 0d", "02 01"), invalid},
		{"a credit with a credit that is text", body(t, "00 04", "01 0d", "02 01", "13 61 31"), invalid},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := frame.NewBodyEnd(sampleID)
			if err := frame.Decode(c.body, &f); frame.KindOf(err) != c.want {
				t.Errorf("Decode(%x) = %v of kind %q, want kind %q", c.body, err, frame.KindOf(err), c.want)
			}
			if _, err := frame.Check(c.body); frame.KindOf(err) != c.want {
				t.Errorf("Check(%x) = %v of kind %q, want kind %q", c.body, err, frame.KindOf(err), c.want)
			}
		})
	}
}

func TestDecodeAccepts(t *testing.T) {
	absent := func(f *frame.Frame) bool {
		return f.ContentType == nil && !f.Meta.IsSet() && f.Payload == nil && !f.Len.IsSet() && !f.EOF.IsSet() && f.Cap == nil && f.Seq == 0
	}
	for _, c := range []struct {
		name string
		body []byte
		good func(*frame.Frame) bool
	}{
		{"keys in descending order", body(t, "03 07", "02 01", "01 07", "00 04"), func(f *frame.Frame) bool { return f.Seq == 7 }},
		{"wide integers", body(t, "00 1b 00 00 00 00 00 00 00 04", "18 01 18 07", "02 19 00 01", "1a 00 00 00 03 1a 00 00 00 09"),
			func(f *frame.Frame) bool { return f.Seq == 9 && f.ID == frame.Number(1) }},
		{"an indefinite map", unhex(t, "bf 00 04 01 07 02 01 ff"), absent},
		{"a payload in pieces", heartbeat(t, "06 5f 42 01 02 40 41 03 ff"), func(f *frame.Frame) bool { return string(f.Payload) == "\x01\x02\x03" }},
		{"a payload of no pieces", heartbeat(t, "06 5f ff"), func(f *frame.Frame) bool { return f.Payload != nil && len(f.Payload) == 0 }},
		{"a text in pieces", heartbeat(t, "0a 7f 61 61 60 62 c3 a4 ff"), func(f *frame.Frame) bool { return string(f.Cap) == "aä" }},
		{"an id in pieces", body(t, "00 04", "01 07", "02 5f 48"+strings.Repeat("11", 8)+"40 48"+strings.Repeat("22", 8)+"ff"),
			func(f *frame.Frame) bool { return f.ID.String() == "11111111-1111-1111-2222-222222222222" }},
		{"an id with a wide length", body(t, "00 04", "01 07", "02 58 10"+strings.Repeat("11", 16)), func(f *frame.Frame) bool { _, ok := f.ID.UUID(); return ok }},
		{"a meta of indefinite length", heartbeat(t, "05 bf 61 61 7f 61 62 61 63 ff ff"),
			func(f *frame.Frame) bool { v, ok := f.Meta.Text("a"); return ok && string(v) == "bc" }},
		{"a name of meta in pieces", heartbeat(t, "05 a1 7f 61 61 61 62 ff 07"), func(f *frame.Frame) bool { n, ok := f.Meta.Uint("ab"); return ok && n == 7 }},
		{"unknown keys", heartbeat(t, "15 00", "18 ff a1 00 00", "1b ff ff ff ff ff ff ff ff 80"), absent},
		{"an unknown key that is a known one when cut to 8 bits", heartbeat(t, "19 01 06 41 61"), absent},
		{"negative keys", heartbeat(t, "20 00", "3b ff ff ff ff ff ff ff ff 00"), absent},
		{"keys that are no numbers", heartbeat(t, "61 61 00", "41 61 00", "f4 00", "f6 00", "f7 00", "f9 3c 00 00", "80 00", "a0 00", "c1 04 00"), absent},
		{"a duplicate in a frame as it is usually written", body(t, "00 04", "01 07", "02 50"+strings.Repeat("11", 16), "03 00", "02 05"),
			func(f *frame.Frame) bool { return f.ID == frame.Number(5) }},
		{"a duplicate after a bad one", body(t, "00 04", "01 07", "02 f6", "02 01"), absent},
		{"a duplicate of a negative number", heartbeat(t, "07 20", "07 05"), func(f *frame.Frame) bool { return f.Len.Or(0) == 5 }},
		{"a duplicate in another encoding", heartbeat(t, "07 05", "18 07 06"), func(f *frame.Frame) bool { return f.Len.Or(0) == 6 }},
		{"a duplicate that is unreadable", heartbeat(t, "04 61 61", "04 f6", "07 01", "07 61 61", "09 f5", "09 01", "06 41 61", "06 61 61"), absent},
		{"a duplicate meta that is unreadable", heartbeat(t, "05 a1 61 61 00", "05 80"), absent},
		{"a duplicate of a name in meta", heartbeat(t, "05 a2 61 61 01 61 61 02"), func(f *frame.Frame) bool { n, ok := f.Meta.Int("a"); return ok && n == 2 }},
		{"a duplicate of a name in meta that is unreadable", heartbeat(t, "05 a2 61 61 01 61 61 61 62"), func(f *frame.Frame) bool { _, ok := f.Meta.Int("a"); return !ok }},
		{"a duplicate of a name in meta in pieces", heartbeat(t, "05 a2 61 61 01 7f 61 61 ff 02"), func(f *frame.Frame) bool { n, _ := f.Meta.Int("a"); return n == 2 }},
		{"wrong kinds", heartbeat(t, "03 61 61", "04 41 61", "05 80", "06 61 61", "07 f9 3c 00", "09 01", "0a 00"), absent},
		{"nulls", heartbeat(t, "03 f6", "04 f6", "05 f6", "06 f6", "07 f6", "09 f6", "0a f6"), absent},
		{"undefined values", heartbeat(t, "03 f7", "04 f7", "05 f7", "06 f7", "07 f7", "09 f7", "0a f7"), absent},
		{"tagged values", heartbeat(t, "03 c1 01", "04 c1 61 61", "05 c1 a0", "06 c1 41 61", "07 c1 01", "09 c1 f5", "0a c1 61 61"), absent},
		{"no seq", heartbeat(t), absent},
		{"a stream_end without chunk_count", body(t, "00 04", "01 09", "02 01"), func(f *frame.Frame) bool { return !f.ChunkCount.IsSet() }},
		{"a chunk without stream and payload", body(t, "00 04", "01 03", "02 01", "0e 00", "10 00"),
			func(f *frame.Frame) bool { return f.Payload == nil && f.StreamID == nil }},
		{"a hello without meta", body(t, "00 04", "01 00", "02 00"), absent},
		{"an empty payload", heartbeat(t, "06 40"), func(f *frame.Frame) bool { return f.Payload != nil && len(f.Payload) == 0 }},
		{"an empty text", heartbeat(t, "0a 60"), func(f *frame.Frame) bool { return f.Cap != nil && len(f.Cap) == 0 }},
		{"an empty meta", heartbeat(t, "05 a0"), func(f *frame.Frame) bool { return f.Meta.IsSet() }},
		{"a meta entry whose key is no text", heartbeat(t, "05 a2 07 01 61 61 02"), func(f *frame.Frame) bool { n, ok := f.Meta.Int("a"); return ok && n == 2 }},
		{"false and 0", heartbeat(t, "07 00", "09 f4"), func(f *frame.Frame) bool { return f.Len.IsSet() && f.EOF.IsSet() && !f.EOF.Or(true) }},
		{"undefined in meta", heartbeat(t, "05 a1 61 61 f7"), func(f *frame.Frame) bool { v, _ := f.Meta.Lookup("a"); return v.Kind() == frame.NullValue }},
		{"a simple value of 32 and more", heartbeat(t, "18 63 f8 20", "18 64 f8 ff", "18 65 e0"), absent},
		{"NaN and infinity in meta", heartbeat(t, "05 a2 61 61 f9 7e 00 61 62 f9 fc 00"), func(f *frame.Frame) bool { n, ok := f.Meta.Number("a"); return ok && n != n }},
		{"numbers of 2^63 and more", body(t, "00 04", "01 03", "02 1b ff ff ff ff ff ff ff ff", "0d 1b 80 00 00 00 00 00 00 00", "0e 1b 80 00 00 00 00 00 00 00", "10 1b ff ff ff ff ff ff ff ff"),
			func(f *frame.Frame) bool { return f.ID == frame.Number(1<<64-1) && f.Checksum.Or(0) == 1<<64-1 }},
		{"level 64 under an unknown key", heartbeat(t, "18 63"+nested(63)), absent},
		{"level 64 under a known key", heartbeat(t, "07"+nested(63)), absent},
		{"level 64 in meta", heartbeat(t, "05 a1 61 61"+nested(62)), func(f *frame.Frame) bool { return f.Meta.IsSet() }},
		{"level 64 in a key", heartbeat(t, nested(63)+"00"), absent},
		{"level 64 of maps", heartbeat(t, "18 63"+strings.Repeat("a1 00", 63)+"00"), absent},
		{"level 64 with a tag round each array", heartbeat(t, "18 63"+strings.Repeat("c181", 63)+"c1 00"), absent},
		{"level 64 by tags within tags", heartbeat(t, "18 63"+strings.Repeat("c1", 64)+"00"), absent},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := decoded(t, c.body)
			if !c.good(f) {
				t.Errorf("Decode(%x) = %+v", c.body, f)
			}
			if head, err := frame.Check(c.body); err != nil || head != f.Head() {
				t.Errorf("Check(%x) = %+v, %v, want %+v", c.body, head, err, f.Head())
			}
		})
	}
}

func TestDecodeSaysWhatIsWrongAndWhere(t *testing.T) {
	for _, c := range []struct {
		body []byte
		want string
	}{
		{body(t, "00 19 01 04", "01 07", "02 01"), "offset 2: version 260, want version 4"},
		{body(t, "00 24", "01 07", "02 01"), "offset 2: version -5, want version 4"},
		{body(t, "00 04", "01 02", "02 01"), "offset 4: unknown frame type 2"},
		{heartbeat(t, "04 61 ff"), "offset 9: a text that is not UTF-8"},
		{heartbeat(t, "07 1c"), "offset 8: head 0x1c is reserved"},
		{append(heartbeat(t), 1, 2, 3), "offset 7: 3 bytes behind the body's map"},
	} {
		var f frame.Frame
		if err := frame.Decode(c.body, &f); err == nil || err.Error() != c.want {
			t.Errorf("Decode(%x) = %v, want %s", c.body, err, c.want)
		}
	}
}

func TestDecodeLeavesTheFrameAfterAnError(t *testing.T) {
	f := frame.NewBodyEnd(sampleID)
	if err := frame.Decode(heartbeat(t, "02 f6"), &f); err == nil {
		t.Fatal("Decode accepted a frame without id")
	}
	if f.ID != sampleID || f.Type != frame.TypeEnd {
		t.Errorf("after an error the frame is %+v", f)
	}
}

func TestDecodeRefusesAboveTheHardLimit(t *testing.T) {
	f := frame.NewRelayState(nil)
	over := frame.HardMaxFrame + 1 - len(encoded(t, &f)) - 4 // the head of the payload takes 4 bytes more
	for _, id := range []frame.ID{frame.UUID([16]byte{}), frame.Number(0)} {
		f.ID = id
		f.Payload = make([]byte, over)
		if id != frame.Number(0) {
			f.Payload = f.Payload[16:]
		}
		body := encoded(t, &f)
		if len(body) != frame.HardMaxFrame+1 {
			t.Fatalf("the body has %d bytes", len(body))
		}
		var got frame.Frame
		if err := frame.Decode(body, &got); frame.KindOf(err) != frame.ErrFrameTooLarge {
			t.Errorf("Decode of %d bytes = %v, want frame_too_large", len(body), err)
		}
		if _, err := frame.Check(body); frame.KindOf(err) != frame.ErrFrameTooLarge {
			t.Errorf("Check of %d bytes = %v, want frame_too_large", len(body), err)
		}
		f.Payload = f.Payload[1:]
		decoded(t, encoded(t, &f))
	}
}
