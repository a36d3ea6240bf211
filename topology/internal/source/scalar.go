package source

import (
	"strings"

	"gopkg.in/yaml.v3"
)

// A Class is the type of a scalar in the core schema of YAML 1.2.
type Class uint8

// The classes.
const (
	Str Class = iota
	Null
	Bool
	Int
	Float
)

// String names the class as messages do.
func (c Class) String() string {
	return [...]string{"string", "null", "bool", "integer", "number"}[c]
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && classOf(n) == Null }

func plain(n *yaml.Node) bool {
	const other = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	return n.Style&other == 0
}

func classOf(n *yaml.Node) Class {
	if n.Style&yaml.TaggedStyle != 0 {
		return taggedClass(n.Tag)
	}
	if !plain(n) {
		return Str
	}
	return classify(n.Value)
}

func taggedClass(tag string) Class {
	switch tag {
	case "!!null":
		return Null
	case "!!bool":
		return Bool
	case "!!int":
		return Int
	case "!!float":
		return Float
	}
	return Str
}

// classify resolves a plain scalar: YAML 1.2, section 10.3.2. The parser's own
// resolution follows 1.1 in part (0b1, 1_000, dates), so it is not used.
func classify(s string) Class {
	if s == "" {
		return Null
	}
	switch c := s[0]; {
	case c == '~' || c == 'n' || c == 'N':
		if s == "~" || s == "null" || s == "Null" || s == "NULL" {
			return Null
		}
	case c == 't' || c == 'T' || c == 'f' || c == 'F':
		switch s {
		case "true", "True", "TRUE", "false", "False", "FALSE":
			return Bool
		}
	case c == '-' || c == '+' || c == '.' || c >= '0' && c <= '9':
		return classifyNumber(s)
	}
	return Str
}

func classifyNumber(s string) Class {
	unsigned := s
	if s[0] == '-' || s[0] == '+' {
		unsigned = s[1:]
	}
	switch {
	case all(unsigned, "0123456789"):
		return Int
	case strings.HasPrefix(s, "0o") && all(s[2:], "01234567"):
		return Int
	case strings.HasPrefix(s, "0x") && all(s[2:], "0123456789abcdefABCDEF"):
		return Int
	case unsigned == ".inf" || unsigned == ".Inf" || unsigned == ".INF":
		return Float
	case s == ".nan" || s == ".NaN" || s == ".NAN":
		return Float
	case isFloat(unsigned):
		return Float
	}
	return Str
}

// isFloat matches (\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?
func isFloat(s string) bool {
	mantissa, exponent, found := s, "", false
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		mantissa, exponent, found = s[:i], s[i+1:], true
	}
	if found {
		if exponent != "" && (exponent[0] == '-' || exponent[0] == '+') {
			exponent = exponent[1:]
		}
		if !all(exponent, "0123456789") {
			return false
		}
	}
	whole, fraction, point := strings.Cut(mantissa, ".")
	if whole == "" {
		return point && all(fraction, "0123456789")
	}
	return all(whole, "0123456789") && (fraction == "" || all(fraction, "0123456789"))
}

// all reports whether s consists of one or more of the characters of set.
func all(s, set string) bool {
	return s != "" && strings.Trim(s, set) == ""
}

// fits reports whether a tagged scalar can be what its tag says.
func fits(n *yaml.Node) bool {
	switch c := classify(n.Value); n.Tag {
	case "!!str":
		return true
	case "!!float":
		return c == Float || c == Int
	default:
		return c == taggedClass(n.Tag) && c != Str
	}
}
