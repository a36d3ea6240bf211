package relaytest

import (
	"encoding/hex"
	"encoding/json"
	"math"
	"math/big"
	"strconv"

	"github.com/cosim-go/cosim/relay/frame"
)

// VectorFields returns the fields of a frame as vectors state them, fit for encoding/json:
// version, type, type_name, and what else is there, by its name. Bytes are hex, ids and values
// of meta are maps that have their kind as the key. What a vector cannot state is told all the
// same: a float that is no number as a text, a simple value under the kind simple.
func VectorFields(f *frame.Frame) map[string]any {
	fields := map[string]any{
		"version": uint64(frame.Version), "type": uint64(f.Type), "type_name": f.Type.String(),
	}
	for i := range frameFields {
		if value, ok := frameFields[i].describe(f); ok {
			fields[frameFields[i].name] = value
		}
	}
	if f.Meta.IsSet() {
		meta := map[string]any{}
		for name := range f.Meta.All() {
			v, _ := f.Meta.Lookup(string(name))
			meta[string(name)] = describeItem(v.Raw())
		}
		fields["meta"] = meta
	}
	return fields
}

// describe returns a field's value, and false when the frame has none.
func (field *frameField) describe(f *frame.Frame) (any, bool) {
	text, ok := field.read(f)
	if !ok {
		return nil, false
	}
	switch field.kind {
	case "text":
		s, err := strconv.Unquote(text)
		return s, err == nil
	case "bool":
		return text == "true", true
	case "bytes":
		return text, true
	case "uint":
		return json.Number(text), true
	}
	return describeID(text), true
}

// describeID turns what idText says into a map.
func describeID(text string) map[string]any {
	kind, id := text[:len("uuid")], text[len("uuid "):]
	if kind == "uint" {
		return map[string]any{kind: json.Number(id)}
	}
	return map[string]any{kind: id}
}

// describeItem is the inverse of appendStated.
func describeItem(item []byte) any {
	h, ok := cborHeadOf(item)
	if !ok {
		return nil
	}
	switch kind := cborKind(item); kind {
	case "uint":
		return map[string]any{"int": json.Number(strconv.FormatUint(h.n, 10))}
	case "nint":
		n := new(big.Int).SetUint64(h.n)
		return map[string]any{"int": json.Number(n.Not(n).String())}
	case "text":
		return map[string]any{kind: string(cborContent(item))}
	case "bytes":
		return map[string]any{kind: hex.EncodeToString(cborContent(item))}
	case "float":
		f, _ := valueOf(item).Float()
		return map[string]any{kind: describeFloat(f)}
	case "bool":
		return map[string]any{kind: item[0]&0x1f == 21}
	case "null", "undefined":
		return map[string]any{"null": true}
	case "tag", "array", "map":
		return describeChildren(kind, h.n, item)
	}
	return map[string]any{"simple": json.Number(strconv.FormatUint(h.n, 10))}
}

func describeFloat(f float64) any {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return f
}

func describeChildren(kind string, number uint64, item []byte) any {
	children, _, _ := cborChildren(item)
	list := make([]any, 0, len(children))
	for _, child := range children {
		list = append(list, describeItem(child))
	}
	switch {
	case kind == "tag" && len(list) == 1:
		return map[string]any{kind: number, "value": list[0]}
	case kind == "map":
		pairs := make([]any, 0, len(list)/2)
		for ; len(list) > 1; list = list[2:] {
			pairs = append(pairs, []any{list[0], list[1]})
		}
		return map[string]any{kind: pairs}
	}
	return map[string]any{kind: list}
}
