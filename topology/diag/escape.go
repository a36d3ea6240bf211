package diag

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// visible reports whether a character may be sent to a terminal as it is: it has a
// shape of its own or is a plain space. Controls, escapes, line and paragraph
// separators, marks that turn the direction of writing, and spaces that only look
// like one are not.
func visible(r rune) bool { return unicode.IsPrint(r) }

// escape makes one line of text that a terminal shows and never obeys: what is not
// visible is written as a Go escape, such as \n, \x1b or \u202e. Backslashes stay
// single, since most messages hold values that are quoted already.
func escape(s string) string {
	if clean(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case visible(r):
			b.WriteRune(r)
		default:
			b.WriteString(escapeRune(r))
		}
		i += size
	}
	return b.String()
}

func clean(s string) bool {
	return utf8.ValidString(s) && strings.IndexFunc(s, func(r rune) bool { return !visible(r) }) < 0
}

func escapeRune(r rune) string {
	switch {
	case r == '\n':
		return `\n`
	case r == '\r':
		return `\r`
	case r == '\t':
		return `\t`
	case r < utf8.RuneSelf:
		return fmt.Sprintf(`\x%02x`, r)
	case r <= 0xffff:
		return fmt.Sprintf(`\u%04x`, r)
	}
	return fmt.Sprintf(`\U%08x`, r)
}

// escapeJSON rewrites encoded JSON so that it holds visible characters and newlines
// alone. What is not visible can stand in a string only, where \u keeps its value.
func escapeJSON(encoded string) string {
	var b strings.Builder
	for _, r := range encoded {
		switch {
		case r == '\n' || visible(r):
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}
