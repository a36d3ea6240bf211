package decode

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/cosim-go/cosim/topology/internal/source"
	"github.com/cosim-go/cosim/topology/schema"
)

// Identifier reads an identifier.
func (c *Context) Identifier(v source.Value) (string, bool) {
	s, ok := c.String(v, "identifier")
	if !ok || !c.checkIdentifier(v, s) {
		return "", false
	}
	return s, true
}

func (c *Context) checkIdentifier(v source.Value, s string) bool {
	p := Problem{Code: schema.BadIdentifier}
	p.Message, p.Hint = badIdentifier(s)
	if p.Message == "" {
		return true
	}
	c.Report(v, p)
	return false
}

// badIdentifier says what is wrong with an identifier.
func badIdentifier(s string) (message, hint string) {
	const rule = "use 1 to 48 letters, digits, underscores or hyphens"
	if s == "" {
		return "identifier is empty", rule
	}
	for _, r := range s {
		if r >= 0x80 || !identifierByte(byte(r)) {
			return fmt.Sprintf("identifier %q has %q in it", s, r), rule
		}
	}
	if len(s) > schema.MaxIdentifier {
		return fmt.Sprintf("identifier %q has %d characters, and %d are the most", s, len(s), schema.MaxIdentifier), ""
	}
	return "", ""
}

func identifierByte(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_' || b == '-'
}

// Key reads a key that is an identifier.
func (c *Context) Key(e source.Entry) (string, bool) { return c.Identifier(e.Key()) }

// Enum reads one of a few words.
func (c *Context) Enum(v source.Value, values []string) (string, bool) {
	s, ok := c.String(v, "string")
	if !ok {
		return "", false
	}
	for _, value := range values {
		if s == value {
			return s, true
		}
	}
	c.Report(v, Problem{
		Code:    schema.UnknownValue,
		Message: fmt.Sprintf("%s cannot be %q", c.label(), s),
		Hint:    c.Suggest(s, values, oneOf),
	})
	return "", false
}

// ResourcePath reads a resource path.
func (c *Context) ResourcePath(v source.Value) (string, bool) {
	s, ok := c.String(v, "path")
	if !ok {
		return "", false
	}
	p := Problem{Code: schema.BadPath}
	switch {
	case s == "":
		p.Message = c.label() + " is empty"
	case hasDotDot(s):
		p.Message = fmt.Sprintf(`path %q has ".." in it`, s)
		p.Hint = "paths are relative to the workspace root, whatever file they are written in; or write an absolute path"
	default:
		return s, true
	}
	c.Report(v, p)
	return "", false
}

func hasDotDot(path string) bool {
	for element := range strings.SplitSeq(path, "/") {
		if element == ".." {
			return true
		}
	}
	return false
}

// Regexp reads a regular expression that compiles.
func (c *Context) Regexp(v source.Value) (string, bool) {
	s, ok := c.String(v, "regular expression")
	if !ok {
		return "", false
	}
	if _, err := regexp.Compile(s); err != nil {
		c.Report(v, Problem{Code: schema.BadRegexp, Message: fmt.Sprintf("%s: %v", c.label(), err), Err: err})
		return "", false
	}
	return s, true
}

// Duration reads a duration between two limits, inclusive.
func (c *Context) Duration(v source.Value, least, most time.Duration) (time.Duration, bool) {
	if !v.IsScalar() || v.Class() == source.Null || v.Class() == source.Bool {
		c.WrongType(v, "duration")
		return 0, false
	}
	p := Problem{Code: schema.BadDuration}
	d, err := time.ParseDuration(v.Text())
	switch {
	case v.Class() == source.Int || v.Class() == source.Float:
		p.Message = fmt.Sprintf("%s needs a unit behind %s", c.label(), v.Text())
		if d, err := time.ParseDuration(v.Text() + "s"); err == nil && d >= least && d <= most {
			p.Hint = "write " + v.Text() + "s for seconds"
		} else {
			p.Hint = "write it like 90s, 1m30s or 500ms"
		}
	case err != nil:
		p.Message = fmt.Sprintf("%s must be a duration, not %q", c.label(), v.Text())
		p.Hint = "write it like 90s, 1m30s or 500ms"
	case d < least || d > most:
		p.Code = schema.OutOfRange
		p.Message = fmt.Sprintf("%s is %s, and must be between %s and %s", c.label(), v.Text(), brief(least), brief(most))
	default:
		return d, true
	}
	c.Report(v, p)
	return 0, false
}

// brief writes a duration without units that are zero: 24h, not 24h0m0s.
func brief(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	return s
}

// Items gives the items of a sequence that are not null. Each is entered with
// [Context.EnterItem] while it is looked at.
func (c *Context) Items(v source.Value, of string, each func(i int, item source.Value)) (ok bool) {
	if !v.IsSequence() {
		c.WrongType(v, "sequence of "+of)
		return false
	}
	ok = true
	for i := range v.Items() {
		item := v.Item(i)
		c.EnterItem(i)
		if item.IsNull() {
			ok = false
			p := Problem{Code: schema.NullItem, Message: c.label() + " is null", Hint: "leave the item out"}
			if item.Text() != "" {
				p.Hint += fmt.Sprintf("; a text has to be in quotes: %q", item.Text())
			}
			c.Report(item, p)
		} else {
			each(i, item)
		}
		c.Leave()
	}
	return ok
}

// Fields gives the entries of a mapping that are not null. Each is entered with
// [Context.Enter] while it is looked at.
func (c *Context) Fields(v source.Value, what string, each func(e source.Entry)) (ok bool) {
	if !v.IsMapping() {
		c.WrongType(v, what)
		return false
	}
	for it := v.Entries(); it.Next(); {
		if it.Value.IsNull() {
			continue
		}
		c.Enter(it.Name)
		each(it.Entry)
		c.Leave()
	}
	return true
}
