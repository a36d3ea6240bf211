package plan

import (
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/cosim-go/cosim/topology/layout"
)

// An encoder appends JSON for people: a field a line, lists of plain values on one
// line. It is written by hand because a plan may hold hundreds of thousands of
// processes: it is several times faster than encoding/json and keeps one record in
// memory. Read decodes what it writes with encoding/json.
type encoder struct {
	w     io.Writer
	buf   []byte
	depth int
	first bool // nothing stands in the open object or list yet
	short bool // the open object is written on one line
	err   error
}

const flushAt = 32 << 10 // bytes; a record is rarely larger

func (e *encoder) flush() {
	if e.err == nil && len(e.buf) > 0 {
		_, e.err = e.w.Write(e.buf)
	}
	e.buf = e.buf[:0]
}

func (e *encoder) open(c byte) {
	e.buf = append(e.buf, c)
	e.depth++
	e.first = true
}

func (e *encoder) close(c byte) {
	e.depth--
	if !e.first && !e.short {
		e.newline()
	}
	e.buf = append(e.buf, c)
	e.first = false
	if len(e.buf) >= flushAt {
		e.flush()
	}
}

func (e *encoder) newline() {
	const spaces = "                                "
	e.buf = append(e.buf, '\n')
	e.buf = append(e.buf, spaces[:min(2*e.depth, len(spaces))]...)
}

// item starts the next element of a list or object.
func (e *encoder) item() {
	if !e.first {
		e.buf = append(e.buf, ',')
	}
	if !e.short {
		e.newline()
	} else if !e.first {
		e.buf = append(e.buf, ' ')
	}
	e.first = false
}

func (e *encoder) key(name string) {
	e.item()
	e.buf = append(e.buf, '"')
	e.buf = append(e.buf, name...)
	e.buf = append(e.buf, '"', ':', ' ')
}

func (e *encoder) str(name, value string) {
	e.key(name)
	e.buf = appendString(e.buf, value)
}

func (e *encoder) optional(name, value string) {
	if value != "" {
		e.str(name, value)
	}
}

func (e *encoder) size(name string, value layout.Size) {
	e.key(name)
	e.buf = strconv.AppendUint(e.buf, uint64(value), 10)
}

func (e *encoder) boolean(name string, value bool) {
	e.key(name)
	e.buf = strconv.AppendBool(e.buf, value)
}

func (e *encoder) strings(name string, values []string) {
	e.key(name)
	e.buf = append(e.buf, '[')
	for i, v := range values {
		if i > 0 {
			e.buf = append(e.buf, ',', ' ')
		}
		e.buf = appendString(e.buf, v)
	}
	e.buf = append(e.buf, ']')
}

func (e *encoder) environ(name string, values map[string]string) {
	e.key(name)
	if len(values) == 0 {
		e.buf = append(e.buf, '{', '}')
		return
	}
	e.buf = append(e.buf, '{')
	for i, k := range slices.Sorted(maps.Keys(values)) {
		if i > 0 {
			e.buf = append(e.buf, ',', ' ')
		}
		e.buf = appendString(e.buf, k)
		e.buf = append(e.buf, ':', ' ')
		e.buf = appendString(e.buf, values[k])
	}
	e.buf = append(e.buf, '}')
}

func (e *encoder) object(name string, fields func()) {
	e.key(name)
	e.open('{')
	fields()
	e.close('}')
}

// line writes an object on one line.
func (e *encoder) line(name string, fields func()) {
	e.key(name)
	e.inline(fields)
}

func (e *encoder) inline(fields func()) {
	outer := e.short
	e.open('{')
	e.short = true
	fields()
	e.close('}')
	e.short = outer
}

// lines writes a list of objects, each on one line.
func lines[T any](e *encoder, name string, values []T, fields func(*T)) {
	e.key(name)
	e.open('[')
	for i := range values {
		e.item()
		e.inline(func() { fields(&values[i]) })
	}
	e.close(']')
}

// list writes a list of objects.
func list[T any](e *encoder, name string, values []T, fields func(*T)) {
	e.key(name)
	e.open('[')
	for i := range values {
		e.item()
		e.open('{')
		fields(&values[i])
		e.close('}')
	}
	e.close(']')
}

// appendString appends a JSON string. Texts of plain ASCII, which nearly all are, are
// copied; encoding/json takes the others.
func appendString(buf []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf || c == 0x7f {
			return appendEscaped(buf, s)
		}
	}
	buf = append(buf, '"')
	buf = append(buf, s...)
	return append(buf, '"')
}

func appendEscaped(buf []byte, s string) []byte {
	w := sliceWriter{buf}
	enc := json.NewEncoder(&w)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic("plan: a string cannot be encoded: " + err.Error()) // encoding/json encodes every string
	}
	return w.buf[:len(w.buf)-1] // without the line feed that Encode adds
}

type sliceWriter struct{ buf []byte }

func (w *sliceWriter) Write(p []byte) (int, error) {
	w.buf = append(w.buf, p...)
	return len(p), nil
}
