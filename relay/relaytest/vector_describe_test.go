package relaytest

import (
	"encoding/hex"
	"encoding/json"
	"math"
	"testing"

	"github.com/cosim-go/cosim/relay/frame"
)

// What is said of a frame is what its vector states.
func TestVectorFieldsOfVectors(t *testing.T) {
	for _, section := range []string{"valid", "provisional"} {
		for name, c := range vectorCases(t, section) {
			body, _ := hex.DecodeString(c["hex"].(string))
			var f frame.Frame
			if err := frame.Decode(body, &f); err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			fields, err := json.Marshal(VectorFields(&f))
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if report := judge(t, section, with(c, "fields", json.RawMessage(fields))); !report.OK() {
				t.Errorf("VectorFields = %s: %q", fields, report.Failures)
			}
		}
	}
}

func TestVectorFieldsOfWhatNoVectorStates(t *testing.T) {
	for _, test := range []struct {
		item []byte
		want string
	}{
		{[]byte{0xf9, 0x7e, 0x00}, `{"float":"NaN"}`},
		{[]byte{0xf9, 0xfc, 0x00}, `{"float":"-Inf"}`},
		{[]byte{0xe3}, `{"simple":3}`},
		{[]byte{0x3b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, `{"int":-18446744073709551616}`},
	} {
		var b frame.MetaBuilder
		b.Raw("k", test.item)
		meta, err := b.Meta()
		if err != nil {
			t.Fatal(err)
		}
		got, err := json.Marshal(VectorFields(&frame.Frame{Meta: meta})["meta"])
		if err != nil || string(got) != `{"k":`+test.want+`}` {
			t.Errorf("VectorFields of %x = %s, %v, want %s", test.item, got, err, test.want)
		}
	}
	if got := describeFloat(math.Inf(1)); got != "+Inf" {
		t.Errorf("describeFloat(+Inf) = %v", got)
	}
}
