package tap

import (
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cosim-go/cosim/relay/relaytest"
)

const (
	PayloadShown = 32 // bytes of a payload that are shown unless all are wanted
	metaShown    = 64 // bytes of a value of meta that Text shows
)

// fieldOrder is the order of a frame's fields in a line: that of their keys, with ids first.
var fieldOrder = []string{
	"id", "routing_id", "seq", "content_type", "len", "offset", "eof", "cap", "stream_id", "media_urn", "chunk_index",
	"chunk_count", "checksum", "is_sequence", "force_kill", "credit", "unbounded", "meta",
}

// Text returns a report that writes each event to out as a line for people:
//
//	1 > @231 req id=0a1b2c3d-4e5f-4081-92a3-b4c5d6e7f809 routing_id=5 seq=0 cap="cap:effect=none" payload=[7]"bifaci\n"
//
// which is the connection, the direction (> is forward), the offset, the type and the fields.
// Bytes are shown after their number, as text where they are one, else in hex. They are cut
// unless full.
func Text(out io.Writer, full bool) func(Event) error {
	return func(e Event) error {
		_, err := io.WriteString(out, textLine(e, full)+"\n")
		return err
	}
}

func textLine(e Event, full bool) string {
	arrow := map[Direction]string{Forward: " > ", Back: " < "}[e.Direction]
	if arrow == "" {
		return fmt.Sprintf("%d %s", e.Connection, e.Kind)
	}
	line := fmt.Sprintf("%d%s@%d ", e.Connection, arrow, e.Offset)
	switch e.Kind {
	case Frame:
		return line + frameText(e, full)
	case NoFrames:
		return line + fmt.Sprintf("no frames from here on, passed on unseen: %v", e.Err)
	case Cut:
		return line + fmt.Sprintf("ended within a frame, of which there are %d bytes", e.Bytes)
	case Broken:
		return line + fmt.Sprintf("broken: %v", e.Err)
	}
	return line + string(e.Kind)
}

func frameText(e Event, full bool) string {
	payload, shown := e.Frame.Payload, *e.Frame
	shown.Payload = nil
	fields := relaytest.VectorFields(&shown)
	words := []string{e.Frame.Type.String()}
	for _, name := range fieldOrder {
		switch value := fields[name].(type) {
		case nil:
		case map[string]any:
			if name == "meta" {
				words = append(words, "meta="+metaText(value, full))
			} else {
				words = append(words, name+"="+valueText(value, full))
			}
		case string:
			words = append(words, name+"="+strconv.Quote(value))
		default:
			words = append(words, fmt.Sprintf("%s=%v", name, value))
		}
	}
	if payload != nil {
		words = append(words, "payload="+bytesText(payload, most(PayloadShown, full)))
	}
	return strings.Join(words, " ")
}

func most(shown int, full bool) int {
	if full {
		return 1 << 30
	}
	return shown
}

func metaText(meta map[string]any, full bool) string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(meta)) {
		value, _ := meta[name].(map[string]any)
		words = append(words, nameText(name)+"="+valueText(value, full))
	}
	return "{" + strings.Join(words, " ") + "}"
}

// nameText quotes a name where it could be taken for something else.
func nameText(name string) string {
	odd := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-.:", r)
	}
	if name == "" || strings.ContainsFunc(name, odd) {
		return strconv.Quote(name)
	}
	return name
}

// valueText returns a value with its kind as the key, as vectors have it.
func valueText(value map[string]any, full bool) string {
	if number, ok := value["tag"]; ok {
		inside, _ := value["value"].(map[string]any)
		return fmt.Sprintf("tag%v(%s)", number, valueText(inside, full))
	}
	for kind, content := range value {
		switch content := content.(type) {
		case string:
			switch kind {
			case "bytes":
				b, _ := hex.DecodeString(content)
				return bytesText(b, most(metaShown, full))
			case "text":
				return cutText(content, most(metaShown, full))
			}
			return content
		case []any:
			return listText(kind, content, full)
		case bool:
			if kind == "null" {
				return kind
			}
			return strconv.FormatBool(content)
		default:
			return fmt.Sprint(content)
		}
	}
	return "nothing"
}

func listText(kind string, list []any, full bool) string {
	var words []string
	for _, v := range list {
		if pair, ok := v.([]any); ok && len(pair) == 2 {
			key, _ := pair[0].(map[string]any)
			value, _ := pair[1].(map[string]any)
			words = append(words, valueText(key, full)+": "+valueText(value, full))
			continue
		}
		value, _ := v.(map[string]any)
		words = append(words, valueText(value, full))
	}
	if kind == "map" {
		return "{" + strings.Join(words, ", ") + "}"
	}
	return "[" + strings.Join(words, ", ") + "]"
}

// cutText quotes a text, of a long one the beginning.
func cutText(text string, most int) string {
	if len(text) <= most {
		return strconv.Quote(text)
	}
	return fmt.Sprintf("[%d]%s…", len(text), strconv.Quote(strings.ToValidUTF8(text[:most], "")))
}

// bytesText shows bytes after their number.
func bytesText(b []byte, most int) string {
	shown, more := b, ""
	if len(b) > most {
		shown, more = b[:most], "…"
	}
	if text, ok := readable(shown, len(b) > most); ok {
		return fmt.Sprintf("[%d]%s%s", len(b), strconv.Quote(text), more)
	}
	return fmt.Sprintf("[%d]%x%s", len(b), shown, more)
}

// readable returns bytes as a text, if they are one for people; what was cut may end within a
// character.
func readable(b []byte, cut bool) (text string, ok bool) {
	for i := 1; cut && i < utf8.UTFMax && !utf8.Valid(b) && len(b) > 0; i++ {
		b = b[:len(b)-1]
	}
	text = string(b)
	odd := func(r rune) bool { return !unicode.IsPrint(r) && !unicode.IsSpace(r) }
	return text, utf8.Valid(b) && !strings.ContainsFunc(text, odd)
}
