package caps

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A class is a set of characters.
type class uint8

const (
	keyChars   class = 1 << iota // may be in a key: letters, digits, _ - / : .
	valueChars                   // may be in a value without quotes: those, * ? !
	plainChars                   // of those that may be in such a value, what folding leaves as it is
)

// ascii has the classes of the ASCII characters.
var ascii = asciiClasses()

func asciiClasses() (table [utf8.RuneSelf]class) {
	for c := range table {
		switch {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', strings.IndexByte("_-/:.", byte(c)) >= 0:
			table[c] = keyChars | valueChars | plainChars
		case 'A' <= c && c <= 'Z':
			table[c] = keyChars | valueChars
		case strings.IndexByte("*?!", byte(c)) >= 0:
			table[c] = valueChars | plainChars
		}
	}
	return table
}

// wideClass returns the classes of a character beyond ASCII.
func wideClass(r rune) class {
	switch {
	case !unicode.IsLetter(r) && !unicode.IsDigit(r):
		return 0
	case unicode.ToLower(r) != r:
		return keyChars | valueChars
	default:
		return keyChars | valueChars | plainChars
	}
}

// span returns how many bytes at the start of s are characters of a class. What is not UTF-8 is
// of no class.
func span(s string, of class) int {
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			if ascii[s[i]]&of == 0 {
				return i
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:]) // of what is not UTF-8: U+FFFD, no letter
		if wideClass(r)&of == 0 {
			return i
		}
		i += size
	}
	return len(s)
}

// fold returns s in lower case, character by character.
func fold(s string) string { return strings.ToLower(s) }

func digitsOnly(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}
