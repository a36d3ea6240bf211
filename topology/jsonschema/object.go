package jsonschema

import (
	"bytes"
	"encoding/json"
)

// An object is a JSON object whose members keep their order: editors offer fields in
// the order in which a schema has them.
type object []member

type member struct {
	key   string
	value any
}

// MarshalJSON implements json.Marshaler.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := json.Marshal(m.key)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func (o object) value(key string) any {
	for _, m := range o {
		if m.key == key {
			return m.value
		}
	}
	return nil
}

// with gives a copy with one member set, in its place or else at the end.
func (o object) with(key string, value any) object {
	c := append(object(nil), o...)
	for i := range c {
		if c[i].key == key {
			c[i].value = value
			return c
		}
	}
	return append(c, member{key, value})
}

func ref(to string) object { return object{{"$ref", to}} }

// null is what an editor has for `key:` with nothing behind it, which counts as absent.
var null = object{{"type", "null"}}

// nullable makes a schema that accepts null too.
func nullable(o object) object {
	if len(o) == 0 {
		return o
	}
	if values, ok := o.value("enum").([]any); ok {
		return o.with("enum", append(values[:len(values):len(values)], nil))
	}
	switch t := o.value("type").(type) {
	case string:
		return o.with("type", []string{t, "null"})
	case []string:
		return o.with("type", append(t[:len(t):len(t)], "null"))
	}
	if choices, ok := o.value("anyOf").([]object); ok {
		return o.with("anyOf", append(choices[:len(choices):len(choices)], null))
	}
	return object{{"anyOf", []object{o, null}}}
}
