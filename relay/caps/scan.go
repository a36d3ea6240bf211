package caps

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of what is read. The protocol has none.
const (
	MaxLength = 64 << 10 // bytes of a text, as it is given and in canonical form
	MaxTags   = 128      // tags of a URN; those of a media URN within a cap count by themselves
)

// A spot is a tag with its place in the text.
type spot struct {
	Tag
	at      int // where it begins
	valueAt int // where its value does, or its opening quote; only with a value
}

// A scanner reads the tags of a URN.
type scanner struct {
	text  string
	at    int
	spots []spot              // so far, as they come
	seen  map[string]struct{} // their keys, once there are many
}

// fewKeys is up to how many keys are compared one by one.
const fewKeys = 16

// scan reads a URN with some prefix, which is in lower case, and returns its tags.
func scan(prefix, text string) ([]spot, *Error) {
	if err := checkAround(prefix, text); err != nil {
		return nil, err
	}
	s := &scanner{text: text, at: strings.IndexByte(text, ':') + 1}
	if s.at < len(text) {
		s.spots = make([]spot, 0, min(1+strings.Count(text, ";"), MaxTags))
	}
	for ; s.at < len(text); s.at++ { // over the ; behind each tag
		if text[s.at] == ';' {
			continue
		}
		if err := s.tag(); err != nil {
			return nil, err
		}
	}
	return s.spots, nil
}

// checkAround checks everything but the tags.
func checkAround(prefix, text string) *Error {
	if len(text) > MaxLength {
		return faultAt(ErrTooLong, MaxLength, "%d bytes, more than %d", len(text), MaxLength)
	}
	if trimmed := strings.TrimLeftFunc(text, unicode.IsSpace); trimmed != text {
		return faultAt(ErrWhitespace, 0, "white space before the URN")
	}
	if trimmed := strings.TrimRightFunc(text, unicode.IsSpace); trimmed != text {
		return faultAt(ErrWhitespace, len(trimmed), "white space behind the URN")
	}
	if text == "" {
		return faultAt(ErrEmpty, 0, "an empty text")
	}
	colon := strings.IndexByte(text, ':')
	if colon <= 0 || fold(text[:colon]) != prefix {
		return faultAt(ErrPrefix, 0, "does not begin with %s:", prefix)
	}
	return nil
}

// tag reads the tag at the scanner's place, up to the ; behind it or the end.
func (s *scanner) tag() *Error {
	if len(s.spots) == MaxTags {
		return s.fault(ErrTooManyTags, "more than %d tags", MaxTags)
	}
	t := spot{at: s.at}
	mark := s.mark()
	t.Key = fold(s.take(keyChars))
	if t.Key == "" {
		if s.at == len(s.text) {
			return s.fault(ErrEmptyComponent, "no key behind %c", mark)
		}
		return s.stray("key")
	}
	if mark == 0 {
		mark = s.mark()
	}
	switch {
	case s.ended():
		t.Form = markedForm(mark, FormPresent, FormOpen, FormAbsent)
	case s.text[s.at] != '=':
		return s.stray("key")
	default:
		s.at++
		if err := s.value(&t, mark); err != nil {
			return err
		}
	}
	return s.add(t)
}

// mark steps over a ? or ! and returns it, or 0 where there is none.
func (s *scanner) mark() byte {
	if s.at < len(s.text) && (s.text[s.at] == '?' || s.text[s.at] == '!') {
		s.at++
		return s.text[s.at-1]
	}
	return 0
}

// markedForm returns the first form for no mark, the second for ? and the third for !.
func markedForm(mark byte, none, question, exclamation Form) Form {
	switch mark {
	case '?':
		return question
	case '!':
		return exclamation
	}
	return none
}

// value reads what is behind the = of a tag and sets the tag's form and value.
func (s *scanner) value(t *spot, mark byte) *Error {
	t.valueAt = s.at
	var value string
	if s.at < len(s.text) && s.text[s.at] == '"' {
		s.at++
		var err *Error
		if value, err = s.quoted(t.valueAt); err != nil {
			return err
		}
	} else {
		value = fold(s.take(valueChars))
	}
	if !s.ended() {
		return s.stray("value")
	}
	switch value {
	case "":
		return faultAt(ErrEmptyComponent, t.valueAt, "no value for key %.40q", t.Key)
	case "*", "?", "!":
		if mark != 0 {
			return faultAt(ErrInvalidCharacter, t.valueAt, "key %.40q has both %c and the value %s", t.Key, mark, value)
		}
		t.Form = markedForm(value[0], FormPresent, FormOpen, FormAbsent)
		return nil
	}
	t.Form = markedForm(mark, FormExactly, FormAbsentOrNot, FormPresentNot)
	t.Value = value
	return nil
}

// quoted reads a value up to its closing quote. The opening one is at an offset.
func (s *scanner) quoted(open int) (string, *Error) {
	var unescaped []byte // what is read so far; nil before the first escape
	start := s.at        // of what is not in unescaped
	for s.at < len(s.text) {
		switch c := s.text[s.at]; {
		case c == '"':
			s.at++
			return string(unescaped) + s.text[start:s.at-1], nil
		case c == '\\' && s.at+1 < len(s.text):
			if next := s.text[s.at+1]; next != '"' && next != '\\' {
				return "", s.fault(ErrInvalidEscape, `\ stands only before " and \ in a quoted value`)
			}
			unescaped = append(unescaped, s.text[start:s.at]...)
			start = s.at + 1
			s.at += 2
		case c < utf8.RuneSelf:
			s.at++
		default:
			r, size := utf8.DecodeRuneInString(s.text[s.at:])
			if r == utf8.RuneError && size == 1 {
				return "", s.stray("value")
			}
			s.at += size
		}
	}
	return "", faultAt(ErrUnterminatedQuote, open, "a quoted value has no end")
}

// add appends a tag, if its key is good and new.
func (s *scanner) add(t spot) *Error {
	if digitsOnly(t.Key) {
		return faultAt(ErrNumericKey, t.at, "key %.40q has digits only", t.Key)
	}
	if s.has(t.Key) {
		return faultAt(ErrDuplicateKey, t.at, "key %.40q occurs twice", t.Key)
	}
	s.spots = append(s.spots, t)
	if s.seen != nil {
		s.seen[t.Key] = struct{}{}
	}
	return nil
}

func (s *scanner) has(key string) bool {
	if len(s.spots) < fewKeys {
		return slices.ContainsFunc(s.spots, func(t spot) bool { return t.Key == key })
	}
	if s.seen == nil {
		s.seen = make(map[string]struct{}, 2*fewKeys)
		for i := range s.spots {
			s.seen[s.spots[i].Key] = struct{}{}
		}
	}
	_, there := s.seen[key]
	return there
}

// take reads characters of a class.
func (s *scanner) take(of class) string {
	start := s.at
	s.at += span(s.text[start:], of)
	return s.text[start:s.at]
}

// ended reports whether the tag ends at the scanner's place.
func (s *scanner) ended() bool { return s.at == len(s.text) || s.text[s.at] == ';' }

// stray returns the error for the character at the scanner's place, which is not at the end.
func (s *scanner) stray(in string) *Error {
	r, size := utf8.DecodeRuneInString(s.text[s.at:])
	if r == utf8.RuneError && size == 1 {
		return s.fault(ErrInvalidCharacter, "byte %#02x of a %s is not UTF-8", s.text[s.at], in)
	}
	return s.fault(ErrInvalidCharacter, "%q cannot stand here, in a %s", r, in)
}

func (s *scanner) fault(kind Kind, format string, args ...any) *Error {
	return faultAt(kind, s.at, format, args...)
}

// place returns where the byte of a tag's value at some offset stands in the text.
func (t *spot) place(text string, offset int) int {
	at := t.valueAt
	if text[at] == '"' {
		for at++; offset > 0; offset-- {
			if text[at] == '\\' {
				at++
			}
			at++
		}
		return at
	}
	for offset > 0 { // folding can change how many bytes a character has
		r, size := utf8.DecodeRuneInString(text[at:])
		offset -= utf8.RuneLen(unicode.ToLower(r))
		at += size
	}
	return at
}
