package layout

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// A SizeError says why a text is no size, and what to write instead.
type SizeError struct {
	Text   string
	Reason string // one line, lower case
	Hint   string // may be empty
}

func (e *SizeError) Error() string { return fmt.Sprintf("size %q: %s", e.Text, e.Reason) }

const unitLetters = "KMGTP"

// ParseSize reads a size: decimal digits, or 0x and hexadecimal digits, and for decimal
// ones an optional binary unit K, M, G, T or P, in either case, itself optionally
// followed by iB. The error is always a [*SizeError].
func ParseSize(text string) (Size, error) {
	digits, unit := splitUnit(text)
	fail := func(reason, hint string) (Size, error) {
		return 0, &SizeError{Text: text, Reason: reason, Hint: hint}
	}
	switch {
	case text == "":
		return fail("is empty", `write bytes or a binary unit, such as "64M"`)
	case strings.ContainsAny(text, " \t"):
		return fail("must not contain spaces", "write "+strings.Join(strings.Fields(text), ""))
	case text[0] == '-' || text[0] == '+':
		return fail("must not have a sign", "write "+strings.TrimLeft(text, "+-"))
	case strings.Contains(digits, "."):
		return fail("must be a whole number", fractionHint(digits, unit))
	case digits == "":
		return fail("must start with a digit", `write bytes or a binary unit, such as "64M"`)
	}
	shift, ok := unitShift(unit)
	if !ok {
		return fail(fmt.Sprintf("unknown unit %q", unit), unitHint(digits, unit))
	}
	n, err := parseDigits(digits, unit)
	if err != nil {
		return fail(err.Error(), "")
	}
	hi, lo := bits.Mul64(n, 1<<shift)
	if n == math.MaxUint64 || hi != 0 || Size(lo) > MaxSize {
		return fail("is larger than 2^63-1 bytes", "the largest size is 8191P")
	}
	if lo == 0 {
		return fail("must not be zero", "")
	}
	return Size(lo), nil
}

func splitUnit(text string) (digits, unit string) {
	if len(text) > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X') {
		return text, ""
	}
	i := strings.IndexFunc(text, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
	if i < 0 {
		return text, ""
	}
	return text[:i], text[i:]
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

func parseDigits(digits, unit string) (uint64, error) {
	base := 10
	if unit == "" && len(digits) > 2 && (digits[1] == 'x' || digits[1] == 'X') {
		base, digits = 16, digits[2:]
	} else if len(digits) > 1 && digits[0] == '0' {
		return 0, fmt.Errorf("must not have a leading zero")
	}
	n, err := strconv.ParseUint(digits, base, 64)
	if err != nil && err.(*strconv.NumError).Err == strconv.ErrRange {
		return math.MaxUint64, nil
	}
	if err != nil {
		return 0, fmt.Errorf("is not a number")
	}
	return n, nil
}

// fractionHint turns 1.5G into 1536M where that is exact.
func fractionHint(digits, unit string) string {
	shift, ok := unitShift(unit)
	f, err := strconv.ParseFloat(digits, 64)
	if !ok || err != nil || f <= 0 || f > 1<<20 {
		return ""
	}
	for s := int(shift) - 10; s >= 0; s -= 10 {
		f *= 1024
		if f == math.Trunc(f) && f < 1<<53 {
			suffix := ""
			if s > 0 {
				suffix = unitLetters[s/10-1 : s/10]
			}
			return fmt.Sprintf("write %.0f%s", f, suffix)
		}
	}
	return ""
}

func unitHint(digits, unit string) string {
	if letter := strings.ToUpper(unit[:1]); strings.Contains(unitLetters, letter) {
		return fmt.Sprintf("units are binary: write %s%s or %s%siB (units: K, M, G, T, P)", digits, letter, digits, letter)
	}
	if strings.EqualFold(unit, "B") {
		return "write " + digits + " for bytes"
	}
	return "units: K, M, G, T, P, all binary"
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
	for i := len(unitLetters); i > 0; i-- {
		if u := Size(1) << (10 * i); s >= u {
			v := strconv.FormatFloat(float64(s)/float64(u), 'f', 1, 64)
			return strings.TrimSuffix(v, ".0") + " " + unitLetters[i-1:i] + "iB"
		}
	}
	return strconv.FormatUint(uint64(s), 10) + " B"
}
