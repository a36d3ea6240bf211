package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// maxDepth is how deep a document may be nested. What is kept and passed on has to be readable for
// others, and 128 is what the strictest of the usual parsers take.
const maxDepth = 128

// A scanner walks over a JSON text from front to back and checks what it passes. It accepts what
// encoding/json does, but for texts that are deeper than maxDepth or no UTF-8.
type scanner struct {
	data  []byte
	pos   int
	depth int
}

// broken returns an error for a text that is no JSON.
func (s *scanner) broken(what string) error {
	return fmt.Errorf("is no JSON at byte %d: %s", s.pos, what)
}

func (s *scanner) space() {
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

// peek returns the first byte of what comes, 0 at the end.
func (s *scanner) peek() byte {
	s.space()
	if s.pos == len(s.data) {
		return 0
	}
	return s.data[s.pos]
}

// take passes a byte if that comes.
func (s *scanner) take(c byte) bool {
	if s.peek() != c {
		return false
	}
	s.pos++
	return true
}

// null passes a null if that comes.
func (s *scanner) null() bool {
	if s.peek() != 'n' || !bytes.HasPrefix(s.data[s.pos:], []byte("null")) {
		return false
	}
	s.pos += len("null")
	return true
}

// want fails unless a value comes that begins with c.
func (s *scanner) want(c byte, what string) error {
	if got := s.peek(); got != c {
		return s.mismatch(what)
	}
	return nil
}

// mismatch says that another value comes than the one that was wanted, or none.
func (s *scanner) mismatch(want string) error {
	kind := map[byte]string{'{': "an object", '[': "an array", '"': "a text", 't': "a boolean", 'f': "a boolean", 'n': "null"}[s.peek()]
	start := s.pos
	if _, err := s.value(); err != nil {
		return err
	}
	if kind == "" {
		kind = "the number " + abbreviate(string(s.data[start:s.pos]))
	}
	return fmt.Errorf("is %s, want %s", kind, want)
}

// enter passes the opening byte of an object or array.
func (s *scanner) enter() error {
	if s.depth == maxDepth {
		return s.broken(fmt.Sprintf("nested deeper than %d", maxDepth))
	}
	s.depth++
	s.pos++
	return nil
}

// next passes what stands between the elements of an object or array, or its closing byte. It returns
// false after the last one.
func (s *scanner) next(first bool, closing byte) (bool, error) {
	if first && s.take(closing) {
		s.depth--
		return false, nil
	}
	if first || s.take(',') {
		return true, nil
	}
	if s.take(closing) {
		s.depth--
		return false, nil
	}
	return false, s.broken(fmt.Sprintf("want , or %c", closing))
}

// array reads an array. item has to read the element it is called for.
func (s *scanner) array(item func(i int) error) error {
	if err := s.want('[', "an array"); err != nil {
		return err
	}
	if err := s.enter(); err != nil {
		return err
	}
	for i := 0; ; i++ {
		more, err := s.next(i == 0, ']')
		if err != nil || !more {
			return err
		}
		if err := item(i); err != nil {
			return within("["+strconv.Itoa(i)+"]", err)
		}
	}
}

// object reads an object. member has to read the value of the member whose name it gets: borrowed, and
// as it is between the quotes when raw is set.
func (s *scanner) object(raw bool, member func(name []byte) error) error {
	if err := s.want('{', "an object"); err != nil {
		return err
	}
	if err := s.enter(); err != nil {
		return err
	}
	for first := true; ; first = false {
		more, err := s.next(first, '}')
		if err != nil || !more {
			return err
		}
		name, escaped, err := s.rawText()
		if err != nil {
			return err
		}
		if escaped && !raw {
			name = []byte(unescape(name))
		}
		if !s.take(':') {
			return s.broken("want :")
		}
		if err := member(name); err != nil {
			if escaped && raw {
				name = []byte(unescape(name))
			}
			return within(memberPath(string(name)), err)
		}
	}
}

// value passes a value and returns its text, borrowed.
func (s *scanner) value() ([]byte, error) {
	c := s.peek()
	start := s.pos
	var err error
	switch {
	case c == '{':
		err = s.object(true, s.skip)
	case c == '[':
		err = s.array(func(int) error { return s.skip(nil) })
	case c == '"':
		_, _, err = s.rawText()
	case c == '-' || isDigit(c):
		err = s.number()
	default:
		err = s.literal()
	}
	return s.data[start:s.pos], err
}

func (s *scanner) skip([]byte) error {
	_, err := s.value()
	return err
}

func (s *scanner) literal() error {
	for _, word := range [...]string{"true", "false", "null"} {
		if bytes.HasPrefix(s.data[s.pos:], []byte(word)) {
			s.pos += len(word)
			return nil
		}
	}
	if s.pos == len(s.data) {
		return s.broken("the text ends early")
	}
	return s.broken("want a value")
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func (s *scanner) at() byte {
	if s.pos == len(s.data) {
		return 0
	}
	return s.data[s.pos]
}

func (s *scanner) digits() error {
	if !isDigit(s.at()) {
		return s.broken("want a digit")
	}
	for isDigit(s.at()) {
		s.pos++
	}
	return nil
}

func (s *scanner) number() error {
	if s.at() == '-' {
		s.pos++
	}
	if s.at() == '0' {
		s.pos++
	} else if err := s.digits(); err != nil {
		return err
	}
	if s.at() == '.' {
		s.pos++
		if err := s.digits(); err != nil {
			return err
		}
	}
	if s.at() != 'e' && s.at() != 'E' {
		return nil
	}
	s.pos++
	if s.at() == '+' || s.at() == '-' {
		s.pos++
	}
	return s.digits()
}

// rawText passes a string and returns what is between its quotes, borrowed, and whether that has escapes.
func (s *scanner) rawText() (text []byte, escaped bool, err error) {
	if s.peek() != '"' {
		return nil, false, s.broken("want a text")
	}
	s.pos++
	start := s.pos
	for ; s.pos < len(s.data); s.pos++ {
		switch c := s.data[s.pos]; {
		case c == '"':
			s.pos++
			return s.data[start : s.pos-1], escaped, nil
		case c == '\\':
			escaped = true
			if err := s.escape(); err != nil {
				return nil, false, err
			}
		case c < ' ':
			return nil, false, s.broken("a control character within a text")
		}
	}
	return nil, false, s.broken("the text ends early")
}

// escape goes to the last byte of an escape.
func (s *scanner) escape() error {
	s.pos++
	switch s.at() {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return nil
	case 'u':
		for range 4 {
			s.pos++
			if c := s.at() | 0x20; !isDigit(s.at()) && (c < 'a' || 'f' < c) {
				return s.broken("want four hexadecimal digits")
			}
		}
		return nil
	}
	return s.broken("an unknown escape")
}

// unescape returns what a good string says, given what is between its quotes. Half of a surrogate pair
// becomes U+FFFD.
func unescape(raw []byte) string {
	quoted := make([]byte, 0, len(raw)+2)
	quoted = append(append(append(quoted, '"'), raw...), '"')
	var text string
	if err := json.Unmarshal(quoted, &text); err != nil {
		panic("manifest: " + err.Error())
	}
	return text
}

func (s *scanner) text() (string, error) {
	if err := s.want('"', "a text"); err != nil {
		return "", err
	}
	raw, escaped, err := s.rawText()
	if err != nil || !escaped {
		return string(raw), err
	}
	return unescape(raw), nil
}

func (s *scanner) boolean() (bool, error) {
	c := s.peek()
	if c != 't' && c != 'f' {
		return false, s.mismatch("a boolean")
	}
	return c == 't', s.literal()
}

// integer passes a number and returns its text, which has neither fraction nor exponent.
func (s *scanner) integer(want string) ([]byte, error) {
	c := s.peek()
	start := s.pos
	if c != '-' && !isDigit(c) {
		return nil, s.mismatch(want)
	}
	if err := s.number(); err != nil {
		return nil, err
	}
	text := s.data[start:s.pos]
	if bytes.ContainsAny(text, ".eE") {
		return nil, fmt.Errorf("is %s, want %s", abbreviate(string(text)), want)
	}
	return text, nil
}

const (
	wantUnsigned = "a whole number from 0 to 2^64-1"
	wantSigned   = "a whole number of 64 bits"
)

func (s *scanner) unsigned() (uint64, error) {
	text, err := s.integer(wantUnsigned)
	if err != nil {
		return 0, err
	}
	var n uint64
	for _, c := range text {
		if !isDigit(c) || n > (math.MaxUint64-uint64(c-'0'))/10 {
			return 0, fmt.Errorf("is %s, want %s", abbreviate(string(text)), wantUnsigned)
		}
		n = n*10 + uint64(c-'0')
	}
	return n, nil
}

func (s *scanner) signed() (int64, error) {
	text, err := s.integer(wantSigned)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("is %s, want %s", abbreviate(string(text)), wantSigned)
	}
	return n, nil
}
