package source

import (
	"regexp"
	"strings"

	"github.com/cosim-go/cosim/topology/schema"
)

// A cause is one meaning of what the parser tells. Of several that tell the same, the
// first that finds its place holds.
type cause struct {
	told          string // part of the parser's message
	message, hint string
	find          func(line, told string) int // the offset in bytes of the place in a line, or -1
	above         int                         // how many lines above the parser's the place may be
	code          string                      // yaml-syntax where empty
}

const anywhere = 1 << 30

// causes explains the messages of yaml.v3 (scannerc.go, parserc.go, decode.go).
var causes = []cause{
	{told: "expected ',' or ']'", find: missingComma,
		message: `no "," before this`},
	{told: "expected ',' or '}'", find: missingComma,
		message: `no "," before this`},
	{told: "expected ',' or ']'", find: lastOpen('[', ']'), above: anywhere,
		message: `"[" without "]", or items without "," between them`},
	{told: "expected ',' or '}'", find: lastOpen('{', '}'), above: anywhere,
		message: `"{" without "}", or fields without "," between them`},
	{told: "unexpected end of stream", find: lastQuote, above: anywhere,
		message: "quoted text without its closing quote"},
	{told: "unexpected document indicator", find: lastQuote, above: anywhere,
		message: "quoted text without its closing quote"},
	{told: "mapping values are not allowed", find: secondColon,
		message: `":" in a plain text`, hint: `a text that holds ": " has to be quoted`},
	{told: "mapping values are not allowed", find: tightColon, above: 2,
		message: `no space behind ":"`, hint: `write "key: value"`},
	{told: "mapping values are not allowed", find: firstCharacter,
		message: "a key cannot stand here", hint: "check the indentation"},
	{told: "could not find expected ':'", find: tightColon,
		message: `no space behind ":"`, hint: `write "key: value"`},
	{told: "could not find expected ':'", find: firstCharacter,
		message: `a key without ":"`, hint: `write "key: value"`},
	{told: "cannot start any token", find: firstOf("@`%"),
		message: "a plain text cannot start with this character", hint: "put the text in quotes"},
	{told: "unknown escape character", find: badEscape,
		message: "unknown escape in double quotes", hint: `write a backslash as "\\", or use single quotes`},
	{told: "unknown anchor", find: unknownAlias,
		message: "alias without its anchor", hint: "an anchor (&name) has to stand before its alias (*name)"},
	{told: "expected key", find: behindClosed,
		message: "a value ends here, and more follows on its line", hint: "check the quotes and brackets"},
	{told: "expected key", find: firstCharacter,
		message: "a key was expected here", hint: "check the indentation"},
	{told: "expected '-' indicator", find: firstCharacter,
		message: `a further item, with "-", was expected here`, hint: "check the indentation"},
	{told: "block sequence entries are not allowed", find: firstOf("-"),
		message: "a sequence cannot start on the line of its key", hint: "start it on a line of its own"},
	{told: "expected node content", find: firstOf("]},"),
		message: "a value was expected here"},
	{told: "expected node content", find: lastOpen('[', ']'), above: anywhere,
		message: `"[" without "]"`},
	{told: "expected node content", find: lastOpen('{', '}'), above: anywhere,
		message: `"{" without "}"`},
	{told: "undefined tag handle", find: firstOf("!"),
		message: "unknown tag", hint: "leave the tag out"},
	{told: "incompatible YAML document", find: firstCharacter,
		message: "YAML of another version", hint: "leave the line with %YAML out"},
	{told: "expected <document start>", find: firstCharacter, code: schema.SecondDocument,
		message: "second YAML document in one file", hint: "write it to a file of its own and name it in `imports`"},
	{told: "exceeded max depth", find: firstCharacter, code: schema.TooDeep,
		message: "nested too deeply"},
}

// tabAt finds the tab that a line is indented with, also between dashes. Where it does
// not, it gives -1.
func tabAt(line, told string) int {
	if i := strings.IndexByte(line[:indentOf(line)], '\t'); i >= 0 {
		return i
	}
	if !strings.Contains(told, "cannot start any token") {
		return -1
	}
	return strings.IndexByte(dashes.FindString(line), '\t')
}

var dashes = regexp.MustCompile(`^ *(-[ \t]+)+`)

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

func firstCharacter(line, _ string) int { return indentOf(line) }

// lastOpen finds the last bracket of a line that is not closed on it.
func lastOpen(open, shut byte) func(line, told string) int {
	return func(line, _ string) int {
		closed := 0
		for i := len(line) - 1; i >= 0; i-- {
			switch line[i] {
			case shut:
				closed++
			case open:
				if closed == 0 {
					return i
				}
				closed--
			}
		}
		return -1
	}
}

// startsText reports whether a text can start at an offset of a line.
func startsText(line string, i int) bool {
	return i == 0 || strings.IndexByte(" \t[{,:-", line[i-1]) >= 0
}

// lastQuote finds the last quote that can start a text.
func lastQuote(line, _ string) int {
	for i := len(line) - 1; i >= 0; i-- {
		if (line[i] == '"' || line[i] == '\'') && startsText(line, i) {
			return i
		}
	}
	return -1
}

// secondColon finds the last of several colons that end keys.
func secondColon(line, _ string) int {
	line = strings.TrimRight(line, " \t") + " "
	if strings.Count(line, ": ") < 2 {
		return -1
	}
	return strings.LastIndex(line, ": ")
}

var tight = regexp.MustCompile(`^[ -]*[A-Za-z_][A-Za-z0-9_-]*:[^ /]`)

// tightColon finds the colon of a line such as key:value.
func tightColon(line, _ string) int {
	if !tight.MatchString(line) || strings.Contains(line, ": ") {
		return -1
	}
	return strings.IndexByte(line, ':')
}

func firstOf(set string) func(line, told string) int {
	return func(line, _ string) int {
		for i := 0; i < len(line); i++ {
			if strings.IndexByte(set, line[i]) >= 0 && startsText(line, i) {
				return i
			}
		}
		return -1
	}
}

// badEscape finds the first backslash that starts no escape: YAML 1.2, section 5.7.
func badEscape(line, _ string) int {
	for i := 0; i+1 < len(line); i++ {
		if line[i] == '\\' {
			if strings.IndexByte("0abt\tnvfre \"/\\N_LPxuU'", line[i+1]) < 0 {
				return i
			}
			i++
		}
	}
	return -1
}

var anchorName = regexp.MustCompile(`'([^']*)'`)

func unknownAlias(line, told string) int {
	m := anchorName.FindStringSubmatch(told)
	if m == nil {
		return -1
	}
	return strings.LastIndex(line, "*"+m[1])
}

// behindClosed finds what follows on a line behind a value that has been closed.
func behindClosed(line, _ string) int {
	start := indentOf(line)
	if i := strings.Index(line, ": "); i >= 0 {
		start = i + 2
	}
	for start < len(line) && strings.IndexByte(" -", line[start]) >= 0 {
		start++
	}
	length := quoted(line[start:])
	if length == 0 || line[start] != '"' && line[start] != '\'' {
		length = bracketed(line[start:])
	}
	rest := strings.TrimLeft(line[start+length:], " \t")
	if length == 0 || rest == "" || rest[0] == '#' {
		return -1
	}
	return len(line) - len(rest)
}

// missingComma finds what follows directly on a quoted text or a bracket in a line.
func missingComma(line, _ string) int {
	for i := 0; i < len(line); i++ {
		end := i + 1
		if (line[i] == '"' || line[i] == '\'') && startsText(line, i) {
			if end = i + quoted(line[i:]); end == i {
				return -1
			}
			i = end - 1
		} else if line[i] != ']' && line[i] != '}' {
			continue
		}
		rest := strings.TrimLeft(line[end:], " \t")
		if rest != "" && strings.IndexByte(",:]}#", rest[0]) < 0 {
			return len(line) - len(rest)
		}
	}
	return -1
}

// bracketed gives the length of the sequence or mapping in brackets that s starts with,
// and 0 where there is none. Quoted brackets are not told apart.
func bracketed(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		}
		if depth == 0 {
			return min(i, 1) * (i + 1)
		}
	}
	return 0
}
