package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

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
