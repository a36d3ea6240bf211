package manifest

import (
	"bytes"
	"fmt"
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
