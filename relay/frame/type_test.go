package frame_test

import (
	"testing"

	"github.com/cosim-go/cosim/relay/frame"
)

func TestTypes(t *testing.T) {
	names := map[int]string{
		0: "hello", 1: "req", 3: "chunk", 4: "end", 5: "log", 6: "err", 7: "heartbeat", 8: "stream_start", 9: "stream_end",
		10: "relay_notify", 11: "relay_state", 12: "cancel", 13: "credit", 14: "close_stream", 15: "policy",
	}
	flow := map[string]bool{"req": true, "chunk": true, "end": true, "log": true, "err": true, "stream_start": true, "stream_end": true}
	terminal := map[string]bool{"end": true, "err": true}
	for n := range 256 {
		typ, name := frame.Type(n), names[n]
		if typ.Valid() != (name != "") || typ.Flow() != flow[name] || typ.Terminal() != terminal[name] {
			t.Errorf("type %d: Valid = %v, Flow = %v, Terminal = %v", n, typ.Valid(), typ.Flow(), typ.Terminal())
		}
		if name == "" {
			continue
		}
		if got, ok := frame.ParseType(name); !ok || got != typ || typ.String() != name {
			t.Errorf("ParseType(%s) = %v, %v; String = %s", name, got, ok, typ)
		}
	}
	if got := frame.Type(2).String(); got != "type(2)" {
		t.Errorf("String of type 2 = %s", got)
	}
	for _, name := range []string{"", "res", "Chunk", "type(2)"} {
		if typ, ok := frame.ParseType(name); ok {
			t.Errorf("ParseType(%q) = %v", name, typ)
		}
	}
}
