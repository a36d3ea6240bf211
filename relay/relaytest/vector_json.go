package relaytest

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// A jsonObject is an object as it was written. Lists are []any; numbers are json.Number, so
// that no digit is lost.
type jsonObject struct {
	names  []string // in the order of the text
	values map[string]any
}

func (o *jsonObject) has(name string) bool {
	_, ok := o.values[name]
	return ok
}

// maxJSONDepth is how deep values may be within each other.
const maxJSONDepth = 1000

// parseJSON reads one JSON value with nothing behind it.
func parseJSON(data []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	value, err := parseValue(d, 0)
	if err == io.EOF {
		return nil, errors.New("no JSON: nothing but the end of the file")
	}
	if err != nil {
		return nil, fmt.Errorf("offset %d: %w", d.InputOffset(), noEOF(err))
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("offset %d: more behind the JSON value", d.InputOffset())
	}
	return value, nil
}

func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

func parseValue(d *json.Decoder, depth int) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	if depth > maxJSONDepth {
		return nil, errors.New("too many values within each other")
	}
	switch token {
	case json.Delim('{'):
		o, err := parseObject(d, depth)
		return o, noEOF(err)
	case json.Delim('['):
		l, err := parseList(d, depth)
		return l, noEOF(err)
	}
	return token, nil
}

func parseObject(d *json.Decoder, depth int) (*jsonObject, error) {
	o := &jsonObject{values: map[string]any{}}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil, err
		}
		name := token.(string) // or the decoder had failed
		if o.has(name) {
			return nil, fmt.Errorf("name %q occurs twice", name)
		}
		value, err := parseValue(d, depth+1)
		if err != nil {
			return nil, err
		}
		o.names = append(o.names, name)
		o.values[name] = value
	}
	_, err := d.Token()
	return o, err
}

func parseList(d *json.Decoder, depth int) ([]any, error) {
	l := []any{}
	for d.More() {
		value, err := parseValue(d, depth+1)
		if err != nil {
			return nil, err
		}
		l = append(l, value)
	}
	_, err := d.Token()
	return l, err
}

// hasNoMeaning reports whether a key is there for people alone.
func hasNoMeaning(key string) bool {
	return key == "about" || key == "note" || key == "why" || strings.HasPrefix(key, "reference_")
}

func jsonUint(v any) (uint64, bool) {
	number, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseUint(number.String(), 10, 64)
	return n, err == nil
}

func jsonInt(v any) (int, bool) {
	number, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(number.String())
	return n, err == nil
}

func jsonHex(v any) ([]byte, bool) {
	text, ok := v.(string)
	if !ok {
		return nil, false
	}
	b, err := hex.DecodeString(text)
	return b, err == nil
}

// jsonText returns a value as people read it.
func jsonText(v any) string {
	switch v := v.(type) {
	case *jsonObject:
		return "an object"
	case []any:
		return "a list"
	case string:
		return shortened(strconv.Quote(v))
	case nil:
		return "null"
	}
	return shortened(fmt.Sprint(v))
}

// shortened keeps a line readable.
func shortened(text string) string {
	const most = 120
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
