package frame_test

import (
	"encoding/hex"
	"encoding/json"
	"math"
	"sync"
	"testing"

	"github.com/fxamacker/cbor/v2"

	"github.com/cosim-go/cosim/relay/frame"
)

// metaFieldsOf states a meta as the file does.
func metaFieldsOf(tb testing.TB, m frame.Meta) map[string]vectorValue {
	if !m.IsSet() {
		return nil
	}
	fields := map[string]vectorValue{}
	for name, value := range m.All() {
		fields[string(name)] = valueOf(tb, value.Raw())
	}
	return fields
}

// valueOf states an item as the file does.
func valueOf(tb testing.TB, item []byte) vectorValue {
	kind, content := statedItem(tb, item)
	text, err := json.Marshal(content)
	if err != nil {
		tb.Fatal(err)
	}
	stated := vectorValue{kind: text}
	if kind == "tag" {
		var t cbor.RawTag
		mustUnmarshal(tb, item, &t)
		stated["tag"], _ = json.Marshal(t.Number)
		stated["value"], _ = json.Marshal(valueOf(tb, t.Content))
	}
	return stated
}

func statedItem(tb testing.TB, item []byte) (kind string, content any) {
	switch item[0] >> 5 {
	case 0, 1:
		return "int", json.RawMessage(diagnosed(tb, item))
	case 2:
		var b []byte
		mustUnmarshal(tb, item, &b)
		return "bytes", hex.EncodeToString(b)
	case 3:
		var s string
		mustUnmarshal(tb, item, &s)
		return "text", s
	case 4:
		list := []vectorValue{}
		for _, element := range elements(tb, item) {
			list = append(list, valueOf(tb, element))
		}
		return "array", list
	case 5:
		pairs := [][2]vectorValue{}
		all := elements(tb, item)
		for i := 0; i < len(all); i += 2 {
			pairs = append(pairs, [2]vectorValue{valueOf(tb, all[i]), valueOf(tb, all[i+1])})
		}
		return "map", pairs
	case 6:
		return "tag", nil
	}
	switch item[0] {
	case 0xf4, 0xf5:
		return "bool", item[0] == 0xf5
	case 0xf6, 0xf7:
		return "null", true
	}
	var f float64
	mustUnmarshal(tb, item, &f)
	return "float", f
}

// cbor returns a stated value as an encoder writes it.
func (v vectorValue) cbor(tb testing.TB) []byte {
	tb.Helper()
	switch {
	case v["int"] != nil:
		var n json.Number
		mustJSON(tb, v["int"], &n)
		return integer(tb, n)
	case v["text"] != nil:
		return marshalled[string](tb, v["text"])
	case v["bytes"] != nil:
		var b hexBytes
		mustJSON(tb, v["bytes"], &b)
		return mustMarshal(tb, []byte(b))
	case v["bool"] != nil:
		return marshalled[bool](tb, v["bool"])
	case v["float"] != nil:
		return marshalled[float64](tb, v["float"])
	case v["null"] != nil:
		return []byte{0xf6}
	case v["tag"] != nil:
		var t cbor.RawTag
		mustJSON(tb, v["tag"], &t.Number)
		var content vectorValue
		mustJSON(tb, v["value"], &content)
		t.Content = content.cbor(tb)
		return mustMarshal(tb, t)
	case v["array"] != nil:
		var list []vectorValue
		mustJSON(tb, v["array"], &list)
		return container(tb, 4, len(list), list)
	case v["map"] != nil:
		var pairs [][2]vectorValue
		mustJSON(tb, v["map"], &pairs)
		var flat []vectorValue
		for _, p := range pairs {
			flat = append(flat, p[0], p[1])
		}
		return container(tb, 5, len(pairs), flat)
	}
	tb.Fatalf("a value of unknown kind: %v", v)
	return nil
}

// container returns an array or map.
func container(tb testing.TB, major byte, size int, items []vectorValue) []byte {
	head := mustMarshal(tb, uint64(size))
	head[0] |= major << 5
	for _, item := range items {
		head = append(head, item.cbor(tb)...)
	}
	return head
}

func integer(tb testing.TB, n json.Number) []byte {
	if i, err := n.Int64(); err == nil {
		return mustMarshal(tb, i)
	}
	var u uint64
	mustJSON(tb, []byte(n), &u)
	return mustMarshal(tb, u)
}

func marshalled[T any](tb testing.TB, text []byte) []byte {
	var value T
	mustJSON(tb, text, &value)
	return mustMarshal(tb, value)
}

func mustJSON(tb testing.TB, text []byte, into any) {
	tb.Helper()
	if err := json.Unmarshal(text, into); err != nil {
		tb.Fatalf("%s: %v", text, err)
	}
}

func mustMarshal(tb testing.TB, value any) []byte {
	tb.Helper()
	b, err := cbor.Marshal(value)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func mustUnmarshal(tb testing.TB, item []byte, into any) {
	tb.Helper()
	if err := deepMode().Unmarshal(item, into); err != nil {
		tb.Fatalf("%x: %v", clip(item), err)
	}
}

// diagnosed returns an integer in decimal.
func diagnosed(tb testing.TB, item []byte) string {
	text, err := cbor.Diagnose(item)
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

// deepMode reads whatever is well formed for a frame.
var deepMode = sync.OnceValue(func() cbor.DecMode {
	mode, err := cbor.DecOptions{
		MaxNestedLevels: frame.MaxNesting, MaxArrayElements: math.MaxInt32, MaxMapPairs: math.MaxInt32, UTF8: cbor.UTF8DecodeInvalid,
	}.DecMode()
	if err != nil {
		panic(err)
	}
	return mode
})

// elements returns what an array or map holds, item by item.
func elements(tb testing.TB, item []byte) (all [][]byte) {
	tb.Helper()
	rest, open := behindHead(item)
	for len(rest) > 0 && !(open && rest[0] == 0xff) {
		size := sizeOfFirst(tb, rest)
		all = append(all, rest[:size])
		rest = rest[size:]
	}
	return all
}

// sizeOfFirst returns how long the first of some well-formed items is.
func sizeOfFirst(tb testing.TB, items []byte) int {
	tb.Helper()
	if items[0]>>5 == 6 { // fxamacker looks at what is in some tags
		content, _ := behindHead(items)
		return len(items) - len(content) + sizeOfFirst(tb, content)
	}
	var first cbor.RawMessage
	if _, err := deepMode().UnmarshalFirst(items, &first); err != nil {
		tb.Fatalf("%x: %v", clip(items), err)
	}
	return len(first)
}

// behindHead returns what follows the head of an item, and whether a break ends it.
func behindHead(item []byte) (rest []byte, open bool) {
	switch info := item[0] & 0x1f; {
	case info < 24:
		return item[1:], false
	case info == 31:
		return item[1:], true
	default:
		return item[1+1<<(info-24):], false
	}
}
