package layout

import (
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"unicode"
)

const unitLetters = "KMGTP"

// ParseSize reads a size: decimal digits, or 0x and hexadecimal digits, and for decimal
// ones an optional binary unit K, M, G, T or P, in either case, itself optionally
// followed by iB. The error is always a [*SizeError].
func ParseSize(text string) (Size, error) {
	size, reason := parseSize(text)
	if reason != "" {
		return 0, &SizeError{Text: text, Reason: reason, Hint: sizeHint(text)}
	}
	return size, nil
}

// parseSize gives the size, or the reason why text is none.
func parseSize(text string) (Size, string) {
	digits, unit := splitUnit(text)
	switch {
	case text == "":
		return 0, "is empty"
	case strings.ContainsFunc(text, unicode.IsSpace):
		return 0, "must not contain spaces"
	case text[0] == '-' || text[0] == '+':
		return 0, "must not have a sign"
	case strings.Contains(digits, ".") && !hexadecimal(digits):
		return 0, "must be a whole number"
	case digits == "":
		return 0, "must start with a digit"
	}
	shift, ok := unitShift(unit)
	if !ok {
		return 0, fmt.Sprintf("unknown unit %q", unit)
	}
	n, reason := parseDigits(digits)
	if reason != "" {
		return 0, reason
	}
	hi, lo := bits.Mul64(n, 1<<shift)
	if hi != 0 || Size(lo) > MaxSize {
		return 0, tooLarge
	}
	if lo == 0 {
		return 0, "must not be zero"
	}
	return Size(lo), ""
}

// Reasons that have hints of their own.
const (
	tooLarge       = "is larger than 2^63-1 bytes"
	notHexadecimal = "is not a hexadecimal number"
)

// splitUnit cuts text behind its number. Of a hexadecimal number everything is digits,
// since B is one.
func splitUnit(text string) (digits, unit string) {
	if hexadecimal(text) {
		return text, ""
	}
	i := strings.IndexFunc(text, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
	if i < 0 {
		return text, ""
	}
	return text[:i], text[i:]
}

func hexadecimal(text string) bool {
	return len(text) > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')
}

func unitShift(unit string) (uint, bool) {
	if unit == "" {
		return 0, true
	}
	i := strings.Index(unitLetters, strings.ToUpper(unit[:1]))
	if i < 0 || (len(unit) > 1 && !strings.EqualFold(unit[1:], "iB")) {
		return 0, false
	}
	return uint(10 * (i + 1)), true
}

func parseDigits(digits string) (n uint64, reason string) {
	base := 10
	if hexadecimal(digits) {
		base, digits = 16, digits[2:]
	} else if len(digits) > 1 && digits[0] == '0' {
		return 0, "must not have a leading zero"
	}
	n, err := strconv.ParseUint(digits, base, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, tooLarge
	case err != nil:
		return 0, notHexadecimal
	}
	return n, ""
}

// String gives the size in the largest binary unit that divides it: 32G, 1536M, 4097.
func (s Size) String() string {
	for i := len(unitLetters); i > 0; i-- {
		if u := Size(1) << (10 * i); s >= u && s%u == 0 {
			return strconv.FormatUint(uint64(s/u), 10) + unitLetters[i-1:i]
		}
	}
	return strconv.FormatUint(uint64(s), 10)
}

// Human gives the size as people read it, rounded to one decimal: 96 GiB, 23.5 GiB, 512 B.
func (s Size) Human() string {
	value, unit := float64(s), 0
	for unit < len(unitLetters) && (value >= 1024 || unit > 0 && oneDecimal(value) == "1024") {
		value, unit = value/1024, unit+1
	}
	if unit == 0 {
		return oneDecimal(value) + " B"
	}
	return oneDecimal(value) + " " + unitLetters[unit-1:unit] + "iB"
}

func oneDecimal(v float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), ".0")
}
