package frame_test

import (
	"bytes"
	"testing"

	"github.com/cosim-go/cosim/relay/frame"
)

func TestAppendRefuses(t *testing.T) {
	for _, c := range []struct {
		name  string
		frame frame.Frame
	}{
		{"an unknown type", frame.Frame{Type: 2, ID: sampleID}},
		{"type 16", frame.Frame{Type: 16, ID: sampleID}},
		{"no id", frame.Frame{Type: frame.TypeEnd}},
		{"a chunk without index", frame.Frame{Type: frame.TypeChunk, ID: sampleID, Checksum: frame.Some[uint64](1)}},
		{"a chunk without checksum", frame.Frame{Type: frame.TypeChunk, ID: sampleID, ChunkIndex: frame.Some[uint64](1)}},
		{"a credit without credit", frame.Frame{Type: frame.TypeCredit, ID: sampleID}},
		{"content_type not UTF-8", frame.Frame{Type: frame.TypeEnd, ID: sampleID, ContentType: []byte{0xff}}},
		{"cap not UTF-8", frame.Frame{Type: frame.TypeEnd, ID: sampleID, Cap: []byte{0xff}}},
		{"stream_id not UTF-8", frame.Frame{Type: frame.TypeEnd, ID: sampleID, StreamID: []byte{0xff}}},
		{"media_urn not UTF-8", frame.Frame{Type: frame.TypeEnd, ID: sampleID, MediaURN: []byte{0xff}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := []byte("before")
			got, err := c.frame.Append(before)
			if frame.KindOf(err) != frame.ErrEncode || string(got) != "before" {
				t.Errorf("Append = %q, %v, want encode and nothing appended", got, err)
			}
		})
	}
}

func TestAppendExtends(t *testing.T) {
	f := frame.NewBodyEnd(sampleID)
	got, err := f.Append([]byte("before"))
	if err != nil || !bytes.Equal(got, append([]byte("before"), encoded(t, &f)...)) {
		t.Errorf("Append = %q, %v", got, err)
	}
}

func TestAppendWritesWhatIsSet(t *testing.T) {
	f := frame.Frame{
		Type: frame.TypeEnd, ID: frame.Number(0), EOF: frame.Some(false), Len: frame.Some[uint64](0),
		ContentType: []byte{}, Payload: []byte{}, Meta: metaOf(t, emptyInfo{}),
	}
	want := unhex(t, "a9 00 04 01 04 02 00 03 00 04 60 05 a0 06 40 07 00 09 f4")
	if got := encoded(t, &f); !bytes.Equal(got, want) {
		t.Errorf("Append = %x, want %x", got, want)
	}
}

type emptyInfo struct{}

func (emptyInfo) Put(*frame.MetaBuilder) {}

func TestSendable(t *testing.T) {
	const big = 1 << 63
	some := frame.Some[uint64]
	for _, c := range []struct {
		name  string
		frame frame.Frame
		good  bool
	}{
		{"checksum and credit", frame.Frame{Checksum: some(1<<64 - 1), Credit: some(1<<64 - 1)}, true},
		{"2^63-1", frame.Frame{ID: frame.Number(big - 1), Seq: big - 1, Len: some(big - 1)}, true},
		{"a UUID", frame.Frame{ID: frame.UUID([16]byte{0: 0xff, 8: 0xff})}, true},
		{"id", frame.Frame{ID: frame.Number(big)}, false},
		{"routing id", frame.Frame{RoutingID: frame.Number(big)}, false},
		{"seq", frame.Frame{Seq: big}, false},
		{"len", frame.Frame{Len: some(big)}, false},
		{"offset", frame.Frame{Offset: some(big)}, false},
		{"chunk_index", frame.Frame{ChunkIndex: some(big)}, false},
		{"chunk_count", frame.Frame{ChunkCount: some(1<<64 - 1)}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := c.frame.Sendable(); (err == nil) != c.good || err != nil && frame.KindOf(err) != frame.ErrEncode {
				t.Errorf("Sendable = %v, want good %v", err, c.good)
			}
		})
	}
}

func TestAppendTidiesMeta(t *testing.T) {
	for _, c := range []struct{ name, meta, want string }{
		{"order", "a2 61 62 01 61 61 02", "a2 61 61 02 61 62 01"},
		{"order by bytes, not by length", "a2 61 62 01 62 61 61 02", "a2 62 61 61 02 61 62 01"},
		{"the last duplicate", "a3 61 62 01 61 61 02 61 62 03", "a2 61 61 02 61 62 03"},
		{"a duplicate next to the other", "a2 61 61 01 61 61 02", "a1 61 61 02"},
		{"a duplicate in pieces", "a2 61 61 01 7f 61 61 ff 02", "a1 61 61 02"},
		{"keys that are no names", "a4 01 02 61 61 03 41 61 04 f6 05", "a1 61 61 03"},
		{"indefinite map", "bf 61 61 01 ff", "a1 61 61 01"},
		{"wide heads", "b8 01 78 01 61 19 00 07", "a1 61 61 07"},
		{"texts and bytes in pieces", "a2 61 61 7f 61 78 60 61 79 ff 61 62 5f 41 78 41 79 ff", "a2 61 61 62 78 79 61 62 42 78 79"},
		{"nested containers", "a1 61 61 9f bf 61 7a 1801 61 61 02 ff 9f ff d9 0001 1b 0000000000000000 ff", "a1 61 61 83 a2 61 7a 01 61 61 02 80 c1 00"},
		{"undefined", "a1 61 61 82 f7 f6", "a1 61 61 82 f6 f6"},
		{"floats keep their width", "bf 61 61 f9 3c00 61 62 fa 3f800000 61 63 fb 3ff0000000000000 ff", "a3 61 61 f9 3c00 61 62 fa 3f800000 61 63 fb 3ff0000000000000"},
		{"simple values", "bf 61 61 f8 ff 61 62 e0 ff", "a2 61 61 f8 ff 61 62 e0"},
		{"negative numbers", "bf 61 61 3800 ff", "a1 61 61 20"},
		{"what is tidy already", "a2 61 61 83 01 f9 7e00 40 61 62 a1 00 01", "a2 61 61 83 01 f9 7e00 40 61 62 a1 00 01"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := decoded(t, heartbeat(t, "05"+c.meta))
			want := body(t, "00 04", "01 07", "02 01", "03 00", "05"+c.want)
			got := encoded(t, f)
			if !bytes.Equal(got, want) {
				t.Errorf("Append = %x, want %x", got, want)
			}
			if again := encoded(t, decoded(t, got)); !bytes.Equal(again, got) {
				t.Errorf("Append again = %x, want %x", again, got)
			}
		})
	}
}
