package frame_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"testing"

	"github.com/cosim-go/cosim/relay/frame"
)

func TestIDForms(t *testing.T) {
	for _, c := range []struct {
		id    frame.ID
		text  string
		bytes string
	}{
		{frame.ID{}, "", ""},
		{frame.Number(0), "0", "00000000 00000000"},
		{frame.Number(258), "258", "00000000 00000102"},
		{frame.Number(math.MaxUint64), "18446744073709551615", "ffffffff ffffffff"},
		{sampleID, "0a1b2c3d-4e5f-4081-92a3-b4c5d6e7f809", "0a1b2c3d 4e5f4081 92a3b4c5 d6e7f809"},
		{frame.UUID([16]byte{}), "00000000-0000-0000-0000-000000000000", "00000000 00000000 00000000 00000000"},
	} {
		if got := c.id.String(); got != c.text {
			t.Errorf("String = %s, want %s", got, c.text)
		}
		if got := c.id.AppendBytes([]byte{1}); !bytes.Equal(got[1:], unhex(t, c.bytes)) || got[0] != 1 {
			t.Errorf("AppendBytes of %s = %x, want %s", c.text, got, c.bytes)
		}
		if got, err := frame.ParseID(c.text); c.text != "" && (err != nil || got != c.id) {
			t.Errorf("ParseID(%s) = %v, %v", c.text, got, err)
		}
		if c.id.IsZero() != (c.text == "") {
			t.Errorf("IsZero of %q = %v", c.text, c.id.IsZero())
		}
	}
}

func TestIDsOfDifferentFormsDiffer(t *testing.T) {
	ids := []frame.ID{{}, frame.Number(0), frame.UUID([16]byte{}), frame.Number(1), frame.UUID([16]byte{15: 1})}
	seen := map[frame.ID]int{}
	for i, id := range ids {
		if j, ok := seen[id]; ok {
			t.Errorf("ids %d and %d are one key of a map", i, j)
		}
		seen[id] = i
	}
}

func TestParseID(t *testing.T) {
	upper, err := frame.ParseID("0A1B2C3D-4E5F-4081-92A3-B4C5D6E7F809")
	if err != nil || upper != sampleID {
		t.Errorf("ParseID of upper-case digits = %v, %v", upper, err)
	}
	for _, bad := range []string{
		"", " ", "+1", "-1", "1.0", "0x10", "18446744073709551616", "0a1b2c3d4e5f408192a3b4c5d6e7f809",
		"0a1b2c3d-4e5f-4081-92a3-b4c5d6e7f80g", "0a1b2c3d+4e5f-4081-92a3-b4c5d6e7f809", "{a1b2c3d-4e5f-4081-92a3-b4c5d6e7f80}",
	} {
		if id, err := frame.ParseID(bad); frame.KindOf(err) != frame.ErrDecode || !id.IsZero() {
			t.Errorf("ParseID(%q) = %v, %v, want decode", bad, id, err)
		}
	}
}

// Ids are to be read in logs and other JSON, whose encoder sees no fields in them.
func TestIDsAreTexts(t *testing.T) {
	want := map[frame.ID]frame.ID{sampleID: frame.Number(7), frame.Number(1): {}}
	text, err := json.Marshal(want)
	if wantText := `{"0a1b2c3d-4e5f-4081-92a3-b4c5d6e7f809":"7","1":""}`; err != nil || string(text) != wantText {
		t.Errorf("Marshal = %s, %v, want %s", text, err, wantText)
	}
	var got map[frame.ID]frame.ID
	if err := json.Unmarshal(text, &got); err != nil || !maps.Equal(got, want) {
		t.Errorf("Unmarshal = %v, %v, want %v", got, err, want)
	}
	id := sampleID
	if err := id.UnmarshalText([]byte("x")); frame.KindOf(err) != frame.ErrDecode || id != sampleID {
		t.Errorf("UnmarshalText = %v and the id %v, want decode and no change", err, id)
	}
}

func TestNewUUID(t *testing.T) {
	a, b := frame.NewUUID(), frame.NewUUID()
	if a == b {
		t.Errorf("two fresh ids are both %v", a)
	}
	raw, ok := a.UUID()
	if !ok || raw[6]>>4 != 4 || raw[8]>>6 != 2 {
		t.Errorf("NewUUID = %v, want version 4 and variant 10", a)
	}
	if _, ok := a.Number(); ok {
		t.Error("a UUID has a number")
	}
	if _, ok := frame.Number(1).UUID(); ok {
		t.Error("a number has the bytes of a UUID")
	}
}
