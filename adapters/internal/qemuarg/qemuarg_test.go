package qemuarg

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/cosim-go/cosim/topology/layout"
)

// Requirement: X6
func TestOptionsDoubleCommas(t *testing.T) {
	o := NewOptions("socket").Add("id", "s").Add("path", "/a,b=c,,d").AddIf(false, "no", "1").AddIf(true, "wait", "off")
	if got, want := o.String(), "socket,id=s,path=/a,,b=c,,,,d,wait=off"; got != want {
		t.Errorf("Options = %q, want %q", got, want)
	}
}

// Requirement: X6
func TestObjectKeepsOrder(t *testing.T) {
	o := (&Object{}).Add("z", `a"b\c<d>`).Add("a", 1).Add("m", json.RawMessage(`{"y": 1, "x": [true]}`)).
		Add("s", UnixSocket("/a,b")).Add("b", false)
	want := `{"z":"a\"b\\c<d>","a":1,"m":{"y":1,"x":[true]},"s":{"type":"unix","path":"/a,b"},"b":false}`
	if o.String() != want {
		t.Errorf("Object = %s, want %s", o, want)
	}
	if got := (&Object{}).String(); got != "{}" {
		t.Errorf("Object = %s, want {}", got)
	}
}

// Requirements: V1, X6
func TestIDBeginsWithALetter(t *testing.T) {
	for id, want := range map[string]string{"gpu-0": "gpu-0", "Z": "Z", "0a": "dev.0a", "-": "dev.-", "_x": "dev._x"} {
		if got := ID(id); got != want {
			t.Errorf("ID(%q) = %q, want %q", id, got, want)
		}
	}
}

// Requirements: L2, X6
func TestMemoryIsConverted(t *testing.T) {
	cases := []struct {
		size   layout.Size
		option string
		m      []string
	}{
		{32 * layout.GiB, "32768M", []string{"-m", "32768M"}},
		{layout.MiB, "1M", []string{"-m", "1M"}},
		{64*layout.MiB + 8*layout.KiB, "67117056", []string{"-m", "67117056B"}},
		{64*layout.MiB + 4*layout.KiB, "67112960", nil},
	}
	for _, c := range cases {
		if got := Size(c.size); got != c.option {
			t.Errorf("Size(%d) = %q, want %q", c.size, got, c.option)
		}
		if got := Memory(c.size); !slices.Equal(got, c.m) {
			t.Errorf("Memory(%d) = %q, want %q", c.size, got, c.m)
		}
	}
}

func TestNodeNamesAreShort(t *testing.T) {
	if file := Node(4095) + "-file"; len(file) > 31 {
		t.Errorf("node name %q has %d characters, want 31 at most", file, len(file))
	}
}
