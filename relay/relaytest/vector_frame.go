package relaytest

import (
	"bytes"
	"encoding/binary"
	"maps"
	"slices"
	"strconv"

	"github.com/cosim-go/cosim/relay/frame"
)

func checkValid(c *vectorCase, _ []any) { c.checkFrame() }

// checkProvisional checks a frame whose type has no settled number.
func checkProvisional(c *vectorCase, _ []any) {
	if f := c.checkFrame(); f != nil && f.Type != frame.TypePolicy {
		c.fail("type %v has a number that is settled", f.Type)
	}
}

// checkFrame checks a body that is a frame, and returns that unless it cannot be read.
func (c *vectorCase) checkFrame() *frame.Frame {
	c.knows("name", "hex", "fields", "canonical", "ignored")
	c.text("name")
	body, canonical := c.hex("hex"), c.flag("canonical")
	fields, ok := c.values["fields"].(*jsonObject)
	if c.want("fields", "object", ok); len(c.failures) > 0 {
		return nil
	}
	want, meta := c.stated(fields)
	if len(c.failures) > 0 {
		return nil
	}
	var got frame.Frame
	if err := frame.Decode(body, &got); err != nil {
		c.fail("Decode = %s: %v", frame.KindOf(err), err)
		return nil
	}
	c.compareHead(body, &got)
	c.compareFields(fields, want, &got)
	c.compareMeta(meta, got.Meta)
	if len(c.failures) > 0 { // the bytes differ as a consequence
		return &got
	}
	c.compareBytes(body, canonical, want, &got)
	c.compareIgnored(body, &got)
	return &got
}

// compareHead compares what is read of a frame without decoding it.
func (c *vectorCase) compareHead(body []byte, got *frame.Frame) {
	head, err := frame.Check(body)
	if err != nil || head != got.Head() {
		c.fail("Check = %+v, %v, want %+v", head, err, got.Head())
	}
	r := frame.NewReader(bytes.NewReader(prefixed(body)), &frame.ReaderOptions{MaxFrame: frame.HardMaxFrame})
	if head, err := r.NextHead(); err != nil || *head != got.Head() {
		c.fail("NextHead = %+v, %v, want %+v", head, err, got.Head())
	}
}

func prefixed(body []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
}

func (c *vectorCase) compareFields(fields *jsonObject, want, got *frame.Frame) {
	if n, _ := jsonUint(fields.values["version"]); n != frame.Version {
		c.fail("field version = %d, want %s", frame.Version, jsonText(fields.values["version"]))
	}
	if got.Type != want.Type {
		c.fail("field type = %d, want %d", got.Type, want.Type)
	}
	if name := fields.values["type_name"]; name != got.Type.String() {
		c.fail("field type_name = %q, want %s", got.Type, jsonText(name))
	}
	for _, field := range frameFields {
		if g, w := fieldText(&field, got), fieldText(&field, want); g != w {
			c.fail("field %s = %s, want %s", field.name, shortened(g), shortened(w))
		}
	}
}

func fieldText(field *frameField, f *frame.Frame) string {
	text, ok := field.read(f)
	if !ok {
		return "none"
	}
	return text
}

func (c *vectorCase) compareMeta(want map[string]string, meta frame.Meta) {
	if meta.IsSet() != (want != nil) {
		c.fail("field meta: it is there: %v, want %v", meta.IsSet(), want != nil)
		return
	}
	got := map[string]string{}
	for name := range meta.All() {
		v, ok := meta.Lookup(string(name))
		if got[string(name)] = valueText(v); !ok {
			c.fail("field meta: Lookup does not find %q", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[name]; !ok {
			c.fail("field meta: %q = %s, want none", name, shortened(got[name]))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if g, ok := got[name]; !ok {
			c.fail("field meta: no %q, want %s", name, shortened(want[name]))
		} else if g != want[name] {
			c.fail("field meta: %q = %s, want %s", name, shortened(g), shortened(want[name]))
		}
	}
}

// compareBytes compares what the encoder makes of the fields with the body, where that is
// canonical, but for floats, which may be shorter; and with what it makes of the decoded frame,
// whose floats keep their width.
func (c *vectorCase) compareBytes(body []byte, canonical bool, want, got *frame.Frame) {
	encoded, err := want.Append(nil)
	if err != nil {
		c.fail("Append = %v", err)
		return
	}
	switch same := len(encoded) <= len(body) && bytes.Equal(cborWiden(encoded), cborWiden(body)); {
	case canonical && !same:
		c.fail("Append = %s", difference(encoded, body))
	case !canonical && bytes.Equal(encoded, body):
		c.fail("Append gives the body, which is said not to be canonical")
	}
	if again, err := got.Append(nil); err != nil || !bytes.Equal(cborWiden(again), cborWiden(encoded)) {
		c.fail("Append of the decoded frame = %s, %v", difference(again, encoded), err)
	}
}

// difference shows bytes from shortly before where they leave what is wanted.
func difference(got, want []byte) string {
	at := 0
	for at < min(len(got), len(want)) && got[at] == want[at] {
		at++
	}
	from := max(0, at-4)
	return shortened("…"+hexFrom(got, from)) + ", want " + shortened("…"+hexFrom(want, from)) + " from byte " + strconv.Itoa(from) + " on"
}

func checkInvalid(c *vectorCase, _ []any) {
	c.knows("name", "hex", "class")
	c.text("name")
	body, class := c.hex("hex"), frame.Kind(c.text("class"))
	if len(c.failures) > 0 {
		return
	}
	if class != frame.ErrDecode && class != frame.ErrInvalidFrame {
		c.fail("unknown class %q", class)
		return
	}
	before := frame.Frame{Seq: 99, Payload: []byte("kept")}
	after := before
	if !c.compareClass("Decode", class, frame.Decode(body, &after)) {
		return
	}
	if after.Seq != before.Seq || string(after.Payload) != "kept" {
		c.fail("Decode refuses the body and changes its frame")
	}
	_, err := frame.Check(body)
	c.compareClass("Check", class, err)
	_, err = frame.NewReader(bytes.NewReader(prefixed(body)), nil).Next()
	c.compareClass("Next", class, err)
}

// compareClass returns whether the class of an error is the one that is due.
func (c *vectorCase) compareClass(function string, want frame.Kind, err error) bool {
	got := frame.KindOf(err)
	switch {
	case err == nil:
		c.fail("%s accepts the body, want %s", function, want)
	case got != want:
		c.fail("%s = %s, want %s: %v", function, got, want, err)
	}
	return got == want
}
