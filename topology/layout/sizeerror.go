package layout

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
)

// A SizeError says why a text is no size, and what to write instead.
type SizeError struct {
	Text   string
	Reason string // one line, lower case
	Hint   string // may be empty
}

func (e *SizeError) Error() string { return fmt.Sprintf("size %q: %s", e.Text, e.Reason) }

// sizeHint says what to write instead of a text that is no size: the nearest right
// spelling, or else the rule that would help.
func sizeHint(text string) string {
	digits, unit := splitUnit(strings.TrimLeft(withoutSpaces(text), "+-"))
	letter, known := nearestUnit(unit)
	written := wholeNumber(digits, letter)
	if hexadecimal(digits) {
		written = digits
	}
	switch _, reason := parseSize(written); {
	case digits == "":
		return `write bytes or a binary unit, such as "64M"`
	case !known:
		return "units: K, M, G, T, P, all binary"
	case reason == tooLarge:
		return "the largest size is " + largest.String()
	case reason == notHexadecimal:
		return "a hexadecimal number counts bytes and takes no unit"
	case reason != "":
		return ""
	}
	if _, ok := unitShift(unit); !ok {
		return "units are binary: write " + written
	}
	return "write " + written
}

// largest is the largest size that has a unit.
const largest = MaxSize / PiB * PiB

func withoutSpaces(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, text)
}

// nearestUnit gives the letter of the unit that was meant, "" for bytes.
func nearestUnit(unit string) (letter string, known bool) {
	if unit == "" || strings.EqualFold(unit, "B") || strings.EqualFold(unit, "bytes") {
		return "", true
	}
	letter = strings.ToUpper(unit[:1])
	return letter, strings.Contains(unitLetters, letter)
}

// wholeNumber writes digits, which may hold a point and leading zeros, as a whole number
// of the largest unit in which it is one, or else rounded to the next smaller unit. It
// answers "" where that cannot be done.
func wholeNumber(digits, letter string) string {
	if !strings.Contains(digits, ".") {
		return strings.TrimLeft(digits, "0") + letter
	}
	value, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		return ""
	}
	unit := 0
	if letter != "" {
		unit = strings.Index(unitLetters, letter) + 1
	}
	for u := unit; u >= 0; u-- {
		if v := math.Ldexp(value, 10*(unit-u)); v == math.Trunc(v) {
			return numberOf(v, u)
		}
	}
	below := max(unit-1, 0)
	return numberOf(math.Round(math.Ldexp(value, 10*(unit-below))), below)
}

func numberOf(value float64, unit int) string {
	if unit == 0 {
		return strconv.FormatFloat(value, 'f', 0, 64)
	}
	return strconv.FormatFloat(value, 'f', 0, 64) + unitLetters[unit-1:unit]
}
