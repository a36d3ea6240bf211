// Package placeholder reads and fills texts such as "--socket={{socket}}".
//
// A placeholder is {{name}}, without spaces and without logic. A literal {{ is
// written {{"{{"}}; }} elsewhere stands for itself. Values are put in as they are.
package placeholder

import (
	"fmt"
	"strings"
)

const (
	open    = "{{"
	shut    = "}}"
	literal = `{{"{{"}}`
)

// A Text is a text with its placeholders found. The zero value is the empty text.
type Text struct {
	raw   string
	parts []part // literal and name by turns; nil where raw has no placeholder
}

type part struct {
	literal string
	name    string // empty for a literal part
	offset  int    // of the placeholder's {{ in raw, in bytes
}

// A Name is one placeholder of a text.
type Name struct {
	Name   string
	Offset int // of its {{ in the text, in bytes
}

// An Error says what is wrong with a text, and where.
type Error struct {
	Offset int // in bytes
	Reason string
}

func (e *Error) Error() string { return fmt.Sprintf("offset %d: %s", e.Offset, e.Reason) }

// Parse finds the placeholders of s. The error is always an [*Error].
func Parse(s string) (Text, error) {
	t := Text{raw: s}
	for at := 0; at < len(s); {
		i := strings.Index(s[at:], open)
		if i < 0 {
			if t.parts != nil {
				t.parts = append(t.parts, part{literal: s[at:]})
			}
			break
		}
		start := at + i
		if start > at {
			t.parts = append(t.parts, part{literal: s[at:start]})
		}
		if strings.HasPrefix(s[start:], literal) {
			t.parts = append(t.parts, part{literal: open})
			at = start + len(literal)
			continue
		}
		length := strings.Index(s[start:], shut)
		if length < 0 {
			return Text{}, &Error{start, `"{{" without "}}"; a literal "{{" is written {{"{{"}}`}
		}
		name := s[start+len(open) : start+length]
		if !validName(name) {
			return Text{}, &Error{start, fmt.Sprintf("%q is not the name of a placeholder", name)}
		}
		t.parts = append(t.parts, part{name: name, offset: start})
		at = start + length + len(shut)
	}
	return t, nil
}

// MustParse is Parse for texts written in the program itself. It panics on an error.
func MustParse(s string) Text {
	t, err := Parse(s)
	if err != nil {
		panic("placeholder: " + err.Error())
	}
	return t
}

func validName(name string) bool {
	if name == "" {
		return false
	}
	for i := 0; i < len(name); i++ {
		c := name[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.') {
			return false
		}
	}
	return true
}

// String gives the text as written.
func (t Text) String() string { return t.raw }

// Names lists the placeholders in order, repeated ones as often as they stand there.
func (t Text) Names() []Name {
	var names []Name
	for _, p := range t.parts {
		if p.name != "" {
			names = append(names, Name{p.name, p.offset})
		}
	}
	return names
}

// Sole gives the name of the placeholder that is the whole text.
func (t Text) Sole() (name string, ok bool) {
	if len(t.parts) != 1 || t.parts[0].name == "" {
		return "", false
	}
	return t.parts[0].name, true
}

// Expand fills the placeholders with what value answers. A name that value does not
// know is an error.
func (t Text) Expand(value func(name string) (string, bool)) (string, error) {
	if t.parts == nil {
		return t.raw, nil
	}
	var b strings.Builder
	for _, p := range t.parts {
		if p.name == "" {
			b.WriteString(p.literal)
			continue
		}
		v, ok := value(p.name)
		if !ok {
			return "", fmt.Errorf("placeholder {{%s}} has no value here", p.name)
		}
		b.WriteString(v)
	}
	return b.String(), nil
}
