package manifest

import (
	"fmt"
	"testing"
)

// A host that announces other caps each time does not make its follower grow.
func TestFollowerForgetsOldCaps(t *testing.T) {
	var f Follower
	for i := range 1000 {
		text := fmt.Appendf(nil, `{"caps":["cap:effect=none","cap:op=o%d"]}`, i)
		if _, _, err := f.Read(text); err != nil {
			t.Fatal(err)
		}
		if f.reader.size > 2*len(text) || len(f.reader.urns) > 2*len(text) {
			t.Fatalf("%d caps of %d bytes are kept after a text of %d", len(f.reader.urns), f.reader.size, len(text))
		}
		f.Read([]byte(`{"caps":["cap:op=x` + fmt.Sprint(i) + `"`)) // what is cut counts too
	}
}
