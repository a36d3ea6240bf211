package source

import (
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/cosim-go/cosim/topology/diag"
)

// A Value is a node of a document with the way that led to it. The zero Value is
// absent.
type Value struct {
	file   *File
	node   *yaml.Node // never an alias; nil where the value is absent
	via    *Via
	object *Object // of a merged mapping; its node is the outermost one written
	shared bool    // has an anchor, stands below one, or came from a template, so there may be others
}

func (f *File) value(n *yaml.Node, via *Via, shared bool) Value {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return Value{file: f, node: n, via: via, shared: shared || n.Anchor != ""}
}

// Present reports whether there is a value at all; null is one.
func (v Value) Present() bool { return v.node != nil }

// Spoilt reports whether the structure of the value is wrong: it has a tag that does not
// fit, or a key that is none. That has been reported, and whatever else there is to say
// of it follows from that.
func (v Value) Spoilt() bool { return v.node != nil && v.file.spoilt[v.node] }

// File is the document that the value is written in.
func (v Value) File() *File { return v.file }

// Via is the chain of `use` that brought the value in, or nil.
func (v Value) Via() *Via { return v.via }

// Pos is where the value starts.
func (v Value) Pos() diag.Pos {
	if v.node == nil {
		if v.file == nil {
			return diag.Pos{}
		}
		return diag.Pos{File: v.file.Name}
	}
	return v.file.position(v.node.Line, v.node.Column)
}

// End is the position behind a scalar that is written on one line, and zero for
// everything else.
func (v Value) End() diag.Pos {
	if v.node == nil || v.node.Kind != yaml.ScalarNode {
		return diag.Pos{}
	}
	end, _ := v.file.span(v.node)
	return end
}

// PosIn is the position of an offset, in bytes, in the text of a scalar, or where the
// scalar starts if it is not written as it reads.
func (v Value) PosIn(offset int) diag.Pos {
	pos := v.Pos()
	rest := v.file.from(pos)
	if v.node.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 && rest != "" {
		rest = rest[1:]
		pos.Column++
	}
	text := v.node.Value
	if offset > len(text) || len(rest) < len(text) || rest[:len(text)] != text {
		return v.Pos()
	}
	pos.Column += utf8.RuneCountInString(text[:offset])
	return pos
}

// IsMapping reports whether the value is a mapping.
func (v Value) IsMapping() bool { return v.node != nil && v.node.Kind == yaml.MappingNode }

// IsSequence reports whether the value is a sequence.
func (v Value) IsSequence() bool { return v.node != nil && v.node.Kind == yaml.SequenceNode }

// IsScalar reports whether the value is a scalar; null is one.
func (v Value) IsScalar() bool { return v.node != nil && v.node.Kind == yaml.ScalarNode }

// IsNull reports whether the value is a null, written or left out behind its key.
func (v Value) IsNull() bool { return v.node != nil && isNull(v.node) }

// Text is what a scalar says: its text as written for a plain one.
func (v Value) Text() string { return v.node.Value }

// Class is the type that YAML 1.2 gives to a scalar.
func (v Value) Class() Class { return classOf(v.node) }

// Plain reports whether a scalar is written without quotes.
func (v Value) Plain() bool { return plain(v.node) }

// Shared gives a key that is equal for all values that are the same node of a document,
// where there may be several: it can be reached through an alias or a template, and was
// not changed by a merge.
func (v Value) Shared() (key *yaml.Node, ok bool) {
	return v.node, v.shared && v.object == nil
}

// Spend takes n from the budget of the load, and reports false once that has run out.
func (v Value) Spend(n int) bool { return v.file.budget.Spend(n, v) }

// A Key identifies a node.
type Key = *yaml.Node
