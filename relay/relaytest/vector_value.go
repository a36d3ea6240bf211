package relaytest

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/cosim-go/cosim/relay/frame"
)

// A vector states a value of meta as an object with one name, which is its kind: int, text,
// bytes (hex), float, bool, null (true), array (a list), map (a list of pairs); or as tag with
// value. Values are compared as texts: that tells kinds apart and does not round.

// statedText returns the text of a value that a vector states.
func statedText(v any) (string, error) {
	kind, content, err := statedKind(v)
	if err != nil {
		return "", err
	}
	switch kind {
	case "int":
		n, err := statedInt(content)
		return fmt.Sprintf("int %v", n), err
	case "text":
		s, ok := content.(string)
		return "text " + strconv.Quote(s), statedAs(kind, content, ok)
	case "bytes":
		b, ok := jsonHex(content)
		return "bytes " + hex.EncodeToString(b), statedAs(kind, content, ok)
	case "float":
		f, err := statedFloat(content)
		return floatText(f), err
	case "bool":
		b, ok := content.(bool)
		return fmt.Sprintf("bool %v", b), statedAs(kind, content, ok)
	case "null":
		return "null", statedAs(kind, content, content == true)
	case "tag":
		number, value, err := statedTag(v)
		if err != nil {
			return "", err
		}
		text, err := statedText(value)
		return fmt.Sprintf("tag %d of %s", number, text), err
	}
	children, err := statedChildren(kind, content)
	if err != nil {
		return "", err
	}
	texts := make([]string, len(children))
	for i, child := range children {
		if texts[i], err = statedText(child); err != nil {
			return "", err
		}
	}
	return childrenText(kind, texts), nil
}

// statedKind returns the kind of a value that a vector states, and what stands under it.
func statedKind(v any) (kind string, content any, err error) {
	o, ok := v.(*jsonObject)
	switch {
	case !ok:
		return "", nil, fmt.Errorf("a value without a kind: %s", jsonText(v))
	case len(o.names) == 2 && o.has("tag") && o.has("value"):
		return "tag", nil, nil
	case len(o.names) != 1:
		return "", nil, fmt.Errorf("a value with the kinds %q", o.names)
	}
	switch kind = o.names[0]; kind {
	case "int", "text", "bytes", "float", "bool", "null", "array", "map":
		return kind, o.values[kind], nil
	}
	return "", nil, fmt.Errorf("unknown kind of value %q", kind)
}

func statedAs(kind string, v any, ok bool) error {
	if ok {
		return nil
	}
	return fmt.Errorf("no value of kind %s: %s", kind, jsonText(v))
}

// statedInt returns an integer of CBOR, from -2^64 up to 2^64-1.
func statedInt(v any) (*big.Int, error) {
	number, ok := v.(json.Number)
	if !ok || len(number) > len("-18446744073709551616") { // a number of any length takes any time
		return nil, statedAs("int", v, false)
	}
	n, whole := new(big.Int).SetString(number.String(), 10)
	if !whole || new(big.Int).Not(n).BitLen() > 64 || n.BitLen() > 64 {
		return nil, statedAs("int", v, false)
	}
	return n, nil
}

func statedFloat(v any) (float64, error) {
	number, ok := v.(json.Number)
	if !ok {
		return 0, statedAs("float", v, false)
	}
	f, err := number.Float64()
	return f, statedAs("float", v, err == nil)
}

func statedTag(v any) (number uint64, value any, err error) {
	o := v.(*jsonObject)
	number, ok := jsonUint(o.values["tag"])
	return number, o.values["value"], statedAs("tag", o.values["tag"], ok)
}

// statedChildren returns the elements of an array, or the keys and values of a map in turn.
func statedChildren(kind string, v any) ([]any, error) {
	list, ok := v.([]any)
	if !ok || kind == "array" {
		return list, statedAs(kind, v, ok)
	}
	var children []any
	for _, entry := range list {
		pair, ok := entry.([]any)
		if !ok || len(pair) != 2 {
			return nil, statedAs("map", entry, false)
		}
		children = append(children, pair...)
	}
	return children, nil
}

// appendStated appends a value that statedText understands, as an encoder has to write it.
func appendStated(dst []byte, v any) []byte {
	kind, content, _ := statedKind(v)
	switch kind {
	case "int":
		n, _ := statedInt(content)
		if n.Sign() < 0 {
			return appendCBORHead(dst, cborNint, n.Not(n).Uint64())
		}
		return appendCBORHead(dst, cborUint, n.Uint64())
	case "text":
		text := content.(string)
		return append(appendCBORHead(dst, cborText, uint64(len(text))), text...)
	case "bytes":
		b, _ := jsonHex(content)
		return append(appendCBORHead(dst, cborBytes, uint64(len(b))), b...)
	case "float":
		f, _ := statedFloat(content)
		return binary.BigEndian.AppendUint64(append(dst, cborSimple<<5|27), math.Float64bits(f))
	case "bool":
		if content == true {
			return append(dst, cborSimple<<5|21)
		}
		return append(dst, cborSimple<<5|20)
	case "null":
		return append(dst, cborSimple<<5|22)
	case "tag":
		number, value, _ := statedTag(v)
		return appendStated(appendCBORHead(dst, cborTag, number), value)
	}
	children, _ := statedChildren(kind, content)
	if kind == "map" {
		dst = appendCBORHead(dst, cborMap, uint64(len(children)/2))
	} else {
		dst = appendCBORHead(dst, cborArray, uint64(len(children)))
	}
	for _, child := range children {
		dst = appendStated(dst, child)
	}
	return dst
}

// valueText returns the text of a value of a decoded frame.
func valueText(v frame.Value) string {
	switch v.Kind() {
	case frame.IntValue:
		if n, ok := v.Int(); ok {
			return fmt.Sprintf("int %d", n)
		}
		if n, ok := v.Uint(); ok {
			return fmt.Sprintf("int %d", n)
		}
	case frame.TextValue:
		if s, ok := v.Text(); ok {
			return "text " + strconv.Quote(string(s))
		}
	case frame.BytesValue:
		if b, ok := v.Bytes(); ok {
			return "bytes " + hex.EncodeToString(b)
		}
	case frame.FloatValue:
		if f, ok := v.Float(); ok {
			return floatText(f)
		}
	case frame.BoolValue:
		if b, ok := v.Bool(); ok {
			return fmt.Sprintf("bool %v", b)
		}
	case frame.NullValue:
		return "null"
	}
	return cborItemText(v.Raw())
}

// cborItemText returns the text of an item as it is in the body.
func cborItemText(item []byte) string {
	h, ok := cborHeadOf(item)
	if !ok {
		return "nothing"
	}
	switch kind := cborKind(item); kind {
	case "uint":
		return fmt.Sprintf("int %d", h.n)
	case "nint":
		n := new(big.Int).SetUint64(h.n)
		return fmt.Sprintf("int %v", n.Not(n))
	case "text":
		return "text " + strconv.Quote(string(cborContent(item)))
	case "bytes":
		return "bytes " + hex.EncodeToString(cborContent(item))
	case "array", "map", "tag":
		children, _, _ := cborChildren(item)
		texts := make([]string, len(children))
		for i, child := range children {
			texts[i] = cborItemText(child)
		}
		if kind == "tag" {
			return fmt.Sprintf("tag %d of %s", h.n, strings.Join(texts, " "))
		}
		return childrenText(kind, texts)
	case "bool":
		return fmt.Sprintf("bool %v", item[0]&0x1f == 21)
	case "float":
		f, _ := valueOf(item).Float()
		return floatText(f)
	case "null", "undefined":
		return "null"
	}
	return fmt.Sprintf("simple %d", h.n)
}

func childrenText(kind string, texts []string) string {
	return kind + " [" + strings.Join(texts, ", ") + "]"
}

func floatText(f float64) string { return "float " + strconv.FormatFloat(f, 'g', -1, 64) }

// valueOf makes a value of an item.
func valueOf(item []byte) frame.Value {
	var b frame.MetaBuilder
	b.Raw("", item)
	meta, err := b.Meta()
	if err != nil {
		return frame.Value{}
	}
	v, _ := meta.Lookup("")
	return v
}
