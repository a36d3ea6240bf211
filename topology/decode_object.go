package topology

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/cosim-go/cosim/topology/internal/decode"
	"github.com/cosim-go/cosim/topology/internal/source"
	"github.com/cosim-go/cosim/topology/schema"
)

// object renders a mapping as a JSON object with its keys in the order of the document.
func (d *decoder) object(v source.Value) (json.RawMessage, bool) {
	if !v.IsMapping() {
		d.WrongType(v, "mapping")
		return nil, false
	}
	w := jsonWriter{decoder: d, ok: true}
	w.value(v, 1)
	return w.out, w.ok
}

type jsonWriter struct {
	*decoder
	out []byte
	ok  bool

	tooDeep bool // which has been reported
}

func (w *jsonWriter) value(v source.Value, depth int) {
	switch {
	case w.tooDeep:
	case depth > schema.MaxNesting:
		w.tooDeep = true
		w.fail(v, schema.TooDeep, fmt.Sprintf("nested more than %d levels deep", schema.MaxNesting))
	case v.IsMapping():
		w.mapping(v, depth)
	case v.IsSequence():
		w.out = append(w.out, '[')
		w.ok = w.Items(v, "values", func(i int, item source.Value) {
			if i > 0 {
				w.out = append(w.out, ',')
			}
			w.value(item, depth+1)
		}) && w.ok
		w.out = append(w.out, ']')
	default:
		w.scalar(v)
	}
}

func (w *jsonWriter) mapping(v source.Value, depth int) {
	w.out = append(w.out, '{')
	first := true
	w.Fields(v, "mapping", func(e source.Entry) {
		if !first {
			w.out = append(w.out, ',')
		}
		first = false
		w.text(e.Name)
		w.out = append(w.out, ':')
		w.value(e.Value, depth+1)
	})
	w.out = append(w.out, '}')
}

func (w *jsonWriter) scalar(v source.Value) {
	switch v.Class() {
	case source.Bool:
		if b, ok := w.Bool(v); ok {
			w.out = strconv.AppendBool(w.out, b)
		} else {
			w.ok = false
		}
	case source.Int:
		if n, ok := w.Integer(v, math.MinInt64, math.MaxInt64); ok {
			w.out = strconv.AppendInt(w.out, n, 10)
		} else {
			w.ok = false
		}
	case source.Float:
		f, err := strconv.ParseFloat(v.Text(), 64)
		if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
			w.fail(v, schema.OutOfRange, fmt.Sprintf("number %s has no place in JSON", v.Text()))
			return
		}
		w.out = strconv.AppendFloat(w.out, f, 'g', -1, 64)
	default:
		if s, ok := w.String(v, "string"); ok {
			w.text(s)
		} else {
			w.ok = false
		}
	}
}

func (w *jsonWriter) text(s string) {
	if strings.IndexFunc(s, escaped) < 0 {
		w.out = append(append(append(w.out, '"'), s...), '"')
		return
	}
	var quoted bytes.Buffer
	e := json.NewEncoder(&quoted)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string always can be
	w.out = append(w.out, bytes.TrimSuffix(quoted.Bytes(), []byte{'\n'})...)
}

// escaped reports whether JSON may need an escape for a character.
func escaped(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' }

func (w *jsonWriter) fail(v source.Value, code, message string) {
	w.ok = false
	w.Report(v, decode.Problem{Code: code, Message: message})
}
