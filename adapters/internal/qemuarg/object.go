package qemuarg

import (
	"bytes"
	"encoding/json"
)

// An Object is a JSON object whose keys stay in the order in which they were added,
// as the JSON forms of -device and -object take it. The zero value is {}.
type Object struct {
	b bytes.Buffer
}

// Add appends a key and its value: a text, a number, a bool, a [json.RawMessage] or
// another *Object. The key must not be there yet.
func (o *Object) Add(key string, value any) *Object {
	if o.b.Len() > 0 {
		o.b.WriteByte(',')
	}
	o.encode(key)
	o.b.WriteByte(':')
	if nested, ok := value.(*Object); ok {
		o.b.WriteString(nested.String())
		return o
	}
	o.encode(value)
	return o
}

// encode writes one value. Characters that matter to HTML alone stay as they are.
func (o *Object) encode(value any) {
	enc := json.NewEncoder(&o.b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		panic("qemuarg: " + err.Error())
	}
	o.b.Truncate(o.b.Len() - 1) // the encoder ends each value with a newline
}

// String gives the object as text, without spaces.
func (o *Object) String() string { return "{" + o.b.String() + "}" }
