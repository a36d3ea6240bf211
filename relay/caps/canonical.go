package caps

import "strings"

// settle returns the canonical text of a URN whose tags are sorted. It makes their keys and
// values parts of that text, so that the text they were read from is not kept alive.
func settle(prefix string, tags []Tag) string {
	var space [256]byte
	var ends [MaxTags]int
	b := append(append(space[:0], prefix...), ':')
	for i, t := range tags {
		if i > 0 {
			b = append(b, ';')
		}
		b = appendTag(b, t)
		ends[i] = len(b)
	}
	text := string(b)
	at := len(prefix) + 1
	for i := range tags {
		tags[i].settle(text[at:ends[i]])
		at = ends[i] + 1
	}
	return text
}

// settle makes the key and the value of a tag parts of its canonical text. A value that stands
// there with escapes was put together when it was read and belongs to nobody else.
func (t *Tag) settle(text string) {
	if t.Form == FormOpen || t.Form == FormAbsent {
		text = text[1:]
	}
	t.Key = text[:len(t.Key)]
	if !t.Form.hasValue() {
		return
	}
	value := text[strings.IndexByte(text, '=')+1:]
	switch len(value) - len(t.Value) {
	case 0:
		t.Value = value
	case len(`""`):
		t.Value = value[1 : len(value)-1]
	}
}

func appendTag(b []byte, t Tag) []byte {
	switch t.Form {
	case FormOpen:
		return append(append(b, '?'), t.Key...)
	case FormAbsent:
		return append(append(b, '!'), t.Key...)
	}
	b = append(b, t.Key...)
	switch t.Form {
	case FormPresent:
		return b
	case FormAbsentOrNot:
		b = append(b, '?')
	case FormPresentNot:
		b = append(b, '!')
	}
	return appendValue(append(b, '='), t.Value)
}

// appendValue appends a value in quotes, unless it reads as itself without them.
func appendValue(b []byte, v string) []byte {
	if span(v, plainChars) == len(v) {
		return append(b, v...)
	}
	b = append(b, '"')
	for {
		special := strings.IndexAny(v, `"\`)
		if special < 0 {
			return append(append(b, v...), '"')
		}
		b = append(append(b, v[:special]...), '\\', v[special])
		v = v[special+1:]
	}
}
