package source

import (
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/cosim-go/cosim/topology/diag"
	"github.com/cosim-go/cosim/topology/internal/report"
	"github.com/cosim-go/cosim/topology/schema"
)

// A walker checks the structure of a parsed document in one pass that follows no alias.
type walker struct {
	file    *File
	sink    *report.Sink
	anchors []*yaml.Node // those around the present node
	broken  bool         // nothing can be made of the document
}

// check reports whether the document can be used.
func (f *File) check(root *yaml.Node, sink *report.Sink) bool {
	w := walker{file: f, sink: sink}
	w.walk(root, 1)
	return !w.broken
}

func (w *walker) walk(n *yaml.Node, depth int) {
	if n.Style&yaml.TaggedStyle != 0 {
		w.tag(n)
	}
	switch n.Kind {
	case yaml.AliasNode:
		w.alias(n)
	case yaml.MappingNode, yaml.SequenceNode:
		w.collection(n, depth)
	}
}

func (w *walker) collection(n *yaml.Node, depth int) {
	if depth > schema.MaxNesting {
		w.broken = true
		w.add(n, schema.TooDeep, fmt.Sprintf("nested more than %d levels deep", schema.MaxNesting), "")
		return
	}
	if n.Anchor != "" {
		w.anchors = append(w.anchors, n)
		defer func() { w.anchors = w.anchors[:len(w.anchors)-1] }()
	}
	if n.Kind == yaml.MappingNode {
		w.keys(n)
	}
	for i, child := range n.Content {
		isKey := n.Kind == yaml.MappingNode && i%2 == 0
		if child.Kind == yaml.ScalarNode && child.Style&yaml.TaggedStyle == 0 || isKey && child.Kind != yaml.ScalarNode {
			continue
		}
		w.walk(child, depth+1)
	}
}

// An alias can only lead into a cycle where its value is still open: what it names
// starts before it, and whatever is complete was checked when its own aliases were met.
func (w *walker) alias(n *yaml.Node) {
	if slices.Contains(w.anchors, n.Alias) {
		w.broken = true
		target := w.file.position(n.Alias.Line, n.Alias.Column)
		w.sink.Add(diag.Diagnostic{
			Pos: w.file.position(n.Line, n.Column), Code: schema.AliasCycle,
			Message: fmt.Sprintf("alias %q stands inside the value that it names", "*"+n.Value),
			Related: []diag.Related{{Pos: target, Message: fmt.Sprintf("anchor %q is here", "&"+n.Value)}},
		})
	}
}

// few is the number of keys up to which comparing each with each is the fastest.
const few = 16

// keys reports keys that are no scalars, and those that stand twice in one mapping.
func (w *walker) keys(mapping *yaml.Node) {
	content := mapping.Content
	var seen map[string]*yaml.Node
	if len(content) > 2*few {
		seen = make(map[string]*yaml.Node, len(content)/2)
	}
	for i := 0; i+1 < len(content); i += 2 {
		k := resolved(content[i])
		if k.Kind != yaml.ScalarNode {
			w.badKey(content[i])
			w.spoil(mapping)
			continue
		}
		var first *yaml.Node
		if seen != nil {
			if first = seen[k.Value]; first == nil {
				seen[k.Value] = content[i]
			}
		} else {
			first = earlier(content[:i], k.Value)
		}
		if isMergeKey(content[i]) && !validMerge(content[i+1]) {
			w.add(content[i+1], schema.BadMerge, "merge key \"<<\" needs a mapping or a sequence of mappings", "name one with an alias: <<: *name")
		}
		if first != nil {
			w.duplicate(content[i], first, k.Value)
		}
	}
}

func resolved(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

func earlier(content []*yaml.Node, key string) *yaml.Node {
	for i := 0; i < len(content); i += 2 {
		if k := resolved(content[i]); k.Kind == yaml.ScalarNode && k.Value == key {
			return content[i]
		}
	}
	return nil
}

func (w *walker) duplicate(n, first *yaml.Node, key string) {
	pos := w.file.position(n.Line, n.Column)
	end, _ := w.file.span(n)
	w.sink.Add(diag.Diagnostic{
		Pos: pos, End: end, Code: schema.DuplicateKey,
		Message: fmt.Sprintf("key %q appears twice in one mapping", key),
		Related: []diag.Related{{Pos: w.file.position(first.Line, first.Column), Message: "it is here too"}},
	})
}

func (w *walker) badKey(n *yaml.Node) {
	hint := ""
	if rest := w.file.from(w.file.position(n.Line, n.Column)); strings.HasPrefix(rest, "{") {
		hint = `a text that starts with "{" has to be quoted`
	}
	w.add(n, schema.BadKey, "a key must be a scalar", hint)
}

func (w *walker) tag(n *yaml.Node) {
	switch n.Kind {
	case yaml.MappingNode:
		if n.Tag == "!!map" {
			return
		}
	case yaml.SequenceNode:
		if n.Tag == "!!seq" {
			return
		}
	case yaml.ScalarNode:
		if fits(n) {
			return
		}
	}
	w.spoil(n)
	switch n.Tag {
	case "!!str", "!!int", "!!float", "!!bool", "!!null", "!!map", "!!seq":
		w.add(n, schema.BadTag, fmt.Sprintf("tag %q does not fit this value", n.Tag), "leave the tag out")
	default:
		w.add(n, schema.BadTag, fmt.Sprintf("tag %q is not one of YAML's own", n.Tag), "leave the tag out")
	}
}

// spoil notes that what is wrong with a node has been reported.
func (w *walker) spoil(n *yaml.Node) {
	if w.file.spoilt == nil {
		w.file.spoilt = make(map[*yaml.Node]bool)
	}
	w.file.spoilt[n] = true
}

func (w *walker) add(n *yaml.Node, code, message, hint string) {
	w.sink.Add(diag.Diagnostic{Pos: w.file.position(n.Line, n.Column), Code: code, Message: message, Hint: hint})
}
