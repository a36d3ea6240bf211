package flow

import "unicode/utf8"

// A utf8Checker checks a text that comes in parts, which may end within a character. The zero
// value is at the beginning of a text.
type utf8Checker struct {
	begun [utf8.UTFMax]byte // a character of which more is to come
	n     int
}

// add checks a part, and at the last one that no character is left unfinished. It returns false
// when the text is not UTF-8.
func (c *utf8Checker) add(part []byte, last bool) bool {
	for c.n > 0 && len(part) > 0 {
		c.begun[c.n] = part[0]
		c.n++
		part = part[1:]
		if utf8.FullRune(c.begun[:c.n]) {
			if !utf8.Valid(c.begun[:c.n]) {
				return false
			}
			c.n = 0
		}
	}
	whole := len(part) - unfinished(part)
	if !utf8.Valid(part[:whole]) {
		return false
	}
	c.n += copy(c.begun[c.n:], part[whole:])
	return !last || c.n == 0
}

// unfinished returns how many bytes at the end begin a character and do not finish it.
func unfinished(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if tail := b[len(b)-n:]; utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}
