package decode

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/cosim-go/cosim/topology/internal/source"
	"github.com/cosim-go/cosim/topology/layout"
	"github.com/cosim-go/cosim/topology/schema"
)

// WrongType reports that a value is not what it must be.
func (c *Context) WrongType(v source.Value, want string) {
	hint := ""
	if strings.HasPrefix(want, "sequence") && v.IsScalar() && !v.IsNull() {
		hint = "write [" + v.Text() + "]"
	}
	c.Report(v, Problem{
		Code:    schema.WrongType,
		Message: fmt.Sprintf("%s must be %s, not %s", c.label(), article(want), describe(v)),
		Hint:    hint,
	})
}

func describe(v source.Value) string {
	switch {
	case v.IsMapping():
		return "a mapping"
	case v.IsSequence():
		return "a sequence"
	case v.IsNull():
		return "null"
	}
	return article(v.Class().String())
}

func article(noun string) string {
	if strings.ContainsAny(noun[:1], "aeiou") {
		return "an " + noun
	}
	return "a " + noun
}

// String reads a scalar that YAML takes for a string.
func (c *Context) String(v source.Value, want string) (string, bool) {
	if !v.IsScalar() {
		c.WrongType(v, want)
		return "", false
	}
	if v.Class() == source.Str {
		return c.noNUL(v)
	}
	if v.Text() == "" {
		c.WrongType(v, want)
		return "", false
	}
	c.Report(v, Problem{
		Code:    schema.NeedsQuotes,
		Message: fmt.Sprintf("%s must be %s, and YAML reads %s as %s", c.label(), article(want), v.Text(), describe(v)),
		Hint:    fmt.Sprintf("put it in quotes: %q", v.Text()),
	})
	return "", false
}

func (c *Context) noNUL(v source.Value) (string, bool) {
	if strings.IndexByte(v.Text(), 0) >= 0 {
		c.Report(v, Problem{Code: schema.BadText, Message: c.label() + " holds a NUL"})
		return "", false
	}
	return v.Text(), true
}

// Text reads a scalar whose numbers and bools count as the text written.
func (c *Context) Text(v source.Value) (string, bool) {
	if !v.IsScalar() || v.IsNull() {
		c.WrongType(v, "text")
		return "", false
	}
	return c.noNUL(v)
}

// Bool reads true or false.
func (c *Context) Bool(v source.Value) (value, ok bool) {
	if v.IsScalar() && v.Class() == source.Bool && (v.Text() == "true" || v.Text() == "false") {
		return v.Text() == "true", true
	}
	p := Problem{Code: schema.WrongType, Message: fmt.Sprintf("%s must be true or false, not %s", c.label(), describe(v))}
	if v.IsScalar() {
		p.Message = fmt.Sprintf("%s must be true or false, not %q", c.label(), v.Text())
		switch strings.ToLower(v.Text()) {
		case "true", "yes", "on", "1":
			p.Hint = "write true"
		case "false", "no", "off", "0":
			p.Hint = "write false"
		}
	}
	c.Report(v, p)
	return false, false
}

// Integer reads an integer between two limits, inclusive.
func (c *Context) Integer(v source.Value, least, most int64) (int64, bool) {
	if !v.IsScalar() || v.Class() == source.Null || v.Class() == source.Bool {
		c.WrongType(v, "integer")
		return 0, false
	}
	n, err := parseInteger(v.Text())
	if err != nil || v.Class() != source.Int {
		p := Problem{Code: schema.BadInteger, Message: fmt.Sprintf("%s must be an integer, not %q", c.label(), v.Text())}
		if err == nil && v.Class() == source.Str {
			p.Hint = "leave the quotes out"
		} else if errors.Is(err, errLeadingZero) {
			p.Hint = "write it without the leading zero"
		} else if errors.Is(err, strconv.ErrRange) {
			p.Code = schema.OutOfRange
			p.Message = fmt.Sprintf("%s is %s, which no integer of 64 bits holds", c.label(), v.Text())
		}
		c.Report(v, p)
		return 0, false
	}
	if n < least || n > most {
		c.Report(v, Problem{Code: schema.OutOfRange, Message: fmt.Sprintf("%s is %d, and must be %s", c.label(), n, between(least, most))})
		return 0, false
	}
	return n, true
}

func between(least, most int64) string {
	switch {
	case least == math.MinInt64:
		return fmt.Sprintf("at most %d", most)
	case most == math.MaxInt64:
		return fmt.Sprintf("at least %d", least)
	}
	return fmt.Sprintf("between %d and %d", least, most)
}

var errLeadingZero = errors.New("leading zero")

func parseInteger(text string) (int64, error) {
	if hex, ok := strings.CutPrefix(text, "0x"); ok {
		return strconv.ParseInt(hex, 16, 64)
	}
	digits := strings.TrimLeft(text, "+-")
	if len(digits) > 1 && digits[0] == '0' && strings.Trim(digits, "0123456789") == "" {
		return 0, errLeadingZero
	}
	return strconv.ParseInt(text, 10, 64)
}

// Size reads a size.
func (c *Context) Size(v source.Value) (layout.Size, bool) {
	if !v.IsScalar() || v.IsNull() {
		c.WrongType(v, "size")
		return 0, false
	}
	size, err := layout.ParseSize(v.Text())
	if err == nil {
		return size, true
	}
	p := Problem{Code: schema.BadSize, Message: err.Error(), Err: err}
	var bad *layout.SizeError
	if errors.As(err, &bad) {
		p.Hint = bad.Hint
	}
	c.Report(v, p)
	return 0, false
}
