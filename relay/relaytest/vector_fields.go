package relaytest

import (
	"encoding/hex"
	"fmt"
	"strconv"

	"github.com/cosim-go/cosim/relay/frame"
)

// A frameField is a field that vectors state.
type frameField struct {
	name string
	key  uint64 // in the body
	kind string // of the item under the key, as cborKind has it

	read func(f *frame.Frame) (text string, ok bool) // false: the frame has none
	set  func(f *frame.Frame, stated any) error
}

// frameFields are the fields but for version, type, type_name and meta, in the order of keys.
var frameFields = []frameField{
	idField("id", 2, func(f *frame.Frame) *frame.ID { return &f.ID }),
	{"seq", 3, "uint", readSeq, setSeq},
	textField("content_type", 4, func(f *frame.Frame) *[]byte { return &f.ContentType }),
	{"payload", 6, "bytes", readPayload, setPayload},
	uintField("len", 7, func(f *frame.Frame) *frame.Optional[uint64] { return &f.Len }),
	uintField("offset", 8, func(f *frame.Frame) *frame.Optional[uint64] { return &f.Offset }),
	boolField("eof", 9, func(f *frame.Frame) *frame.Optional[bool] { return &f.EOF }),
	textField("cap", 10, func(f *frame.Frame) *[]byte { return &f.Cap }),
	textField("stream_id", 11, func(f *frame.Frame) *[]byte { return &f.StreamID }),
	textField("media_urn", 12, func(f *frame.Frame) *[]byte { return &f.MediaURN }),
	idField("routing_id", 13, func(f *frame.Frame) *frame.ID { return &f.RoutingID }),
	uintField("chunk_index", 14, func(f *frame.Frame) *frame.Optional[uint64] { return &f.ChunkIndex }),
	uintField("chunk_count", 15, func(f *frame.Frame) *frame.Optional[uint64] { return &f.ChunkCount }),
	uintField("checksum", 16, func(f *frame.Frame) *frame.Optional[uint64] { return &f.Checksum }),
	boolField("is_sequence", 17, func(f *frame.Frame) *frame.Optional[bool] { return &f.IsSequence }),
	boolField("force_kill", 18, func(f *frame.Frame) *frame.Optional[bool] { return &f.ForceKill }),
	uintField("credit", 19, func(f *frame.Frame) *frame.Optional[uint64] { return &f.Credit }),
	boolField("unbounded", 20, func(f *frame.Frame) *frame.Optional[bool] { return &f.Unbounded }),
}

// largestKey is the highest key that a frame may use.
const largestKey = 20

func readSeq(f *frame.Frame) (string, bool) { return strconv.FormatUint(f.Seq, 10), true }

func setSeq(f *frame.Frame, stated any) (err error) {
	f.Seq, err = statedUint(stated)
	return err
}

func readPayload(f *frame.Frame) (string, bool) {
	return hex.EncodeToString(f.Payload), f.Payload != nil
}

func setPayload(f *frame.Frame, stated any) error {
	b, ok := jsonHex(stated)
	if !ok {
		return fmt.Errorf("no hex text: %s", jsonText(stated))
	}
	f.Payload = append([]byte{}, b...)
	return nil
}

func uintField(name string, key uint64, at func(*frame.Frame) *frame.Optional[uint64]) frameField {
	return frameField{name, key, "uint", func(f *frame.Frame) (string, bool) {
		n, ok := at(f).Get()
		return strconv.FormatUint(n, 10), ok
	}, func(f *frame.Frame, stated any) error {
		n, err := statedUint(stated)
		*at(f) = frame.Some(n)
		return err
	}}
}

func boolField(name string, key uint64, at func(*frame.Frame) *frame.Optional[bool]) frameField {
	return frameField{name, key, "bool", func(f *frame.Frame) (string, bool) {
		b, ok := at(f).Get()
		return strconv.FormatBool(b), ok
	}, func(f *frame.Frame, stated any) error {
		b, ok := stated.(bool)
		*at(f) = frame.Some(b)
		return statedAs("bool", stated, ok)
	}}
}

func textField(name string, key uint64, at func(*frame.Frame) *[]byte) frameField {
	return frameField{name, key, "text", func(f *frame.Frame) (string, bool) {
		return strconv.Quote(string(*at(f))), *at(f) != nil
	}, func(f *frame.Frame, stated any) error {
		s, ok := stated.(string)
		*at(f) = append([]byte{}, s...)
		return statedAs("text", stated, ok)
	}}
}

func idField(name string, key uint64, at func(*frame.Frame) *frame.ID) frameField {
	return frameField{name, key, "", func(f *frame.Frame) (string, bool) {
		return idText(*at(f)), !at(f).IsZero()
	}, func(f *frame.Frame, stated any) (err error) {
		*at(f), err = statedID(stated)
		return err
	}}
}

// idText tells a number from a UUID.
func idText(id frame.ID) string {
	if _, ok := id.Number(); ok {
		return "uint " + id.String()
	}
	return "uuid " + id.String()
}

// statedID reads {"uuid": text} or {"uint": number}.
func statedID(v any) (frame.ID, error) {
	o, ok := v.(*jsonObject)
	if !ok || len(o.names) != 1 {
		return frame.ID{}, fmt.Errorf("no id: %s", jsonText(v))
	}
	switch content := o.values[o.names[0]]; o.names[0] {
	case "uint":
		n, err := statedUint(content)
		return frame.Number(n), err
	case "uuid":
		text, _ := content.(string)
		id, err := frame.ParseID(text)
		if _, ok := id.UUID(); err != nil || !ok {
			return frame.ID{}, fmt.Errorf("no UUID: %s", jsonText(content))
		}
		return id, nil
	}
	return frame.ID{}, fmt.Errorf("unknown kind of id %q", o.names[0])
}

func statedUint(v any) (uint64, error) {
	n, ok := jsonUint(v)
	if !ok {
		return 0, fmt.Errorf("no unsigned number of 64 bits: %s", jsonText(v))
	}
	return n, nil
}

// stated makes the frame that the fields of a case describe, and the texts of its meta (nil
// when it has none). It notes what is wrong with the description.
func (c *vectorCase) stated(fields *jsonObject) (f *frame.Frame, meta map[string]string) {
	f = &frame.Frame{}
	for _, name := range []string{"version", "type", "type_name", "id", "seq"} {
		if !fields.has(name) {
			c.fail("no field %s", name)
		}
	}
	for _, name := range fields.names {
		var err error
		value := fields.values[name]
		switch field := fieldByName(name); {
		case field != nil:
			err = field.set(f, value)
		case name == "version" || name == "type_name":
			// The frame has none: compared with its type and with what package frame speaks.
		case name == "type":
			err = setType(f, value)
		case name == "meta":
			meta, err = setMeta(f, value)
		default:
			c.fail("unknown field %q", name)
		}
		if err != nil {
			c.fail("field %s: %v", name, err)
		}
	}
	return f, meta
}

func fieldByName(name string) *frameField {
	for i := range frameFields {
		if frameFields[i].name == name {
			return &frameFields[i]
		}
	}
	return nil
}

func setType(f *frame.Frame, stated any) error {
	n, err := statedUint(stated)
	if err == nil && (n > 255 || !frame.Type(n).Valid()) {
		err = fmt.Errorf("unknown type %d", n)
	}
	f.Type = frame.Type(n)
	return err
}

func setMeta(f *frame.Frame, stated any) (map[string]string, error) {
	o, ok := stated.(*jsonObject)
	if !ok {
		return nil, fmt.Errorf("no object: %s", jsonText(stated))
	}
	texts := map[string]string{}
	var b frame.MetaBuilder
	for _, name := range o.names {
		text, err := statedText(o.values[name])
		if err != nil {
			return nil, fmt.Errorf("%q: %w", name, err)
		}
		texts[name] = text
		putMeta(&b, name, o.values[name])
	}
	var err error
	f.Meta, err = b.Meta()
	return texts, err
}

// putMeta puts in a value by the method of its kind.
func putMeta(b *frame.MetaBuilder, name string, stated any) {
	switch kind, content, _ := statedKind(stated); kind {
	case "int":
		if n, _ := statedInt(content); n.IsInt64() {
			b.Int(name, n.Int64())
			return
		} else if n.IsUint64() {
			b.Uint(name, n.Uint64())
			return
		}
	case "text":
		b.Text(name, content.(string))
		return
	case "bytes":
		value, _ := jsonHex(content)
		b.Bytes(name, value)
		return
	case "float":
		value, _ := statedFloat(content)
		b.Float(name, value)
		return
	case "bool":
		b.Bool(name, content == true)
		return
	}
	b.Raw(name, appendStated(nil, stated))
}
