// Package source turns the bytes of a document into values that know where they are
// written.
//
// [Parse] runs the YAML parser once and checks the structure of what it finds: one
// document, no key twice, no deep nesting, no alias inside its own value, no foreign
// tags. A [Value] is a node of the result together with the file it stands in and the
// chain of `use` that brought it to where it is looked at. Values are small and passed
// by value; looking at plain data copies nothing.
package source

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/cosim-go/cosim/topology/diag"
)

// A File is a parsed document.
type File struct {
	Name string // as the user can open it

	data    []byte  // without a byte order mark
	starts  []start // nil where the parser counts lines as everyone does
	offsets []int32 // of the lines, made when first needed
	root    *yaml.Node
	budget  *Budget
	spoilt  map[*yaml.Node]bool // what was found wrong in their structure, nil where nothing was
}

// Root is the document's content. Its node is nil where the file could not be used.
func (f *File) Root() Value {
	if f.root == nil {
		return Value{file: f}
	}
	return f.value(f.root, nil, false)
}

// position translates a line and a column as the YAML parser counts them.
func (f *File) position(line, column int) diag.Pos {
	if i := line - 1; i >= 0 && i < len(f.starts) {
		s := f.starts[i]
		return diag.Pos{File: f.Name, Line: s.line, Column: s.column + column - 1}
	}
	return diag.Pos{File: f.Name, Line: line, Column: column}
}

// lines gives the offsets of the lines in bytes.
func (f *File) lines() []int32 {
	if f.offsets == nil {
		f.offsets = append(f.offsets, 0)
		for i, c := range f.data {
			if c == '\n' {
				f.offsets = append(f.offsets, int32(i+1)) // at most schema.MaxFile
			}
		}
	}
	return f.offsets
}

func (f *File) lineLength(n int) int {
	lines := f.lines()
	switch {
	case n < 1 || n > len(lines):
		return 0
	case n == len(lines):
		return len(f.data) - int(lines[n-1])
	}
	return int(lines[n] - lines[n-1])
}

// lineAt gives a line, counting from 1, without its end. It gives "" behind the last.
func (f *File) lineAt(n int) string {
	if n < 1 || n > len(f.lines()) {
		return ""
	}
	line, _, _ := bytes.Cut(f.data[f.offsets[n-1]:], []byte{'\n'})
	return strings.TrimSuffix(string(line), "\r")
}

// longLine is the length in bytes above which a line is not searched for the place of a
// problem in it, since it may have very many.
const longLine = 1 << 12

// from gives what is left of the line at a position, and "" in a long line.
func (f *File) from(pos diag.Pos) string {
	if f.lineLength(pos.Line) > longLine {
		return ""
	}
	line := f.lineAt(pos.Line)
	for n := 1; n < pos.Column && line != ""; n++ {
		_, size := utf8.DecodeRuneInString(line)
		line = line[size:]
	}
	return line
}

// span gives the end of a scalar that is written on one line, and false for others.
func (f *File) span(n *yaml.Node) (diag.Pos, bool) {
	pos := f.position(n.Line, n.Column)
	written := f.from(pos)
	switch {
	case n.Style&(yaml.TaggedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0 || n.Anchor != "":
		return diag.Pos{}, false
	case n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0:
		length := quoted(written)
		if length == 0 {
			return diag.Pos{}, false
		}
		written = written[:length]
	case n.Value != "" && strings.HasPrefix(written, n.Value):
		written = n.Value
	default:
		return diag.Pos{}, false
	}
	pos.Column += utf8.RuneCountInString(written)
	return pos, true
}

// quoted gives the length of the quoted scalar that s starts with, and 0 where it does
// not end in s.
func quoted(s string) int {
	if s == "" {
		return 0
	}
	quote := s[0]
	for i := 1; i < len(s); i++ {
		switch {
		case quote == '"' && s[i] == '\\':
			i++
		case s[i] == quote && quote == '\'' && i+1 < len(s) && s[i+1] == quote:
			i++
		case s[i] == quote:
			return i + 1
		}
	}
	return 0
}
