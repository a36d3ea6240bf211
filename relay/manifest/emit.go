package manifest

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// An object is a JSON object that is being written.
type object struct {
	dst   []byte
	empty bool
}

func newObject(dst []byte) *object { return &object{append(dst, '{'), true} }

// key begins a member.
func (o *object) key(name string) {
	if !o.empty {
		o.dst = append(o.dst, ',')
	}
	o.empty = false
	o.dst = append(appendString(o.dst, name), ':')
}

func (o *object) text(name, value string) {
	o.key(name)
	o.dst = appendString(o.dst, value)
}

func (o *object) nullable(name, value string, ok bool) {
	if ok {
		o.text(name, value)
		return
	}
	o.key(name)
	o.dst = append(o.dst, "null"...)
}

func (o *object) number(name string, n uint64) {
	o.key(name)
	o.dst = strconv.AppendUint(o.dst, n, 10)
}

func (o *object) signed(name string, n int64) {
	o.key(name)
	o.dst = strconv.AppendInt(o.dst, n, 10)
}

func (o *object) optional(name string, n *uint64) {
	if n != nil {
		o.number(name, *n)
	}
}

func (o *object) boolean(name string, v bool) {
	o.key(name)
	o.dst = strconv.AppendBool(o.dst, v)
}

func (o *object) texts(name string, list []string) {
	o.key(name)
	o.dst = appendArray(o.dst, list, appendString)
}

// extra writes members that are kept as they came, in the order of their names.
func (o *object) extra(members map[string]json.RawMessage) {
	for _, name := range slices.Sorted(maps.Keys(members)) {
		o.key(name)
		o.dst = append(o.dst, members[name]...)
	}
}

func (o *object) end() []byte { return append(o.dst, '}') }

func appendArray[T any](dst []byte, list []T, item func([]byte, T) []byte) []byte {
	dst = append(dst, '[')
	for i, v := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = item(dst, v)
	}
	return append(dst, ']')
}

const hex = "0123456789abcdef"

// appendString writes a JSON string. What is no UTF-8 becomes U+FFFD.
func appendString(dst []byte, s string) []byte {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	dst = append(dst, '"')
	start := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[start:i]...)
		start = i + 1
		if c < ' ' {
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		} else {
			dst = append(dst, '\\', c)
		}
	}
	return append(append(dst, s[start:]...), '"')
}
