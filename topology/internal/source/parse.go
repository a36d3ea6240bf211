package source

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/cosim-go/cosim/topology/diag"
	"github.com/cosim-go/cosim/topology/internal/report"
	"github.com/cosim-go/cosim/topology/schema"
)

// Parse reads one document. Where it cannot be used at all, its problems are in sink
// and the file's root has no node. All files of a load share one budget.
func Parse(name string, data []byte, budget *Budget, sink *report.Sink) *File {
	f := &File{Name: name, budget: budget}
	if len(data) > schema.MaxFile {
		sink.Add(diag.Diagnostic{
			Pos: diag.Pos{File: name}, Code: schema.FileTooLarge,
			Message: fmt.Sprintf("document is larger than %d MiB", schema.MaxFile>>20),
			Hint:    "use templates and `count` instead of writing everything out",
		})
		return f
	}
	f.data = bytes.TrimPrefix(data, []byte(bom))
	odd, problem := checkText(name, f.data)
	if problem != nil {
		sink.Add(*problem)
		return f
	}
	if odd {
		f.starts = lineStarts(f.data)
	}
	root, second, err := run(f.data)
	switch {
	case err != nil:
		sink.Add(f.explain(err))
	case root == nil || isNull(root):
		sink.Add(diag.Diagnostic{
			Pos: diag.Pos{File: name, Line: 1, Column: 1}, Code: schema.FileEmpty,
			Message: "document is empty", Hint: "a topology starts with: version: 1",
		})
	case second != nil:
		sink.Add(diag.Diagnostic{
			Pos: f.separator(second), Code: schema.SecondDocument,
			Message: "second YAML document in one file", Hint: "write it to a file of its own and name it in `imports`",
		})
	case f.check(root, sink):
		f.root = root
	}
	return f
}

// run parses the first document of data, and the second where there is one.
func run(data []byte) (root, second *yaml.Node, err error) {
	defer func() {
		if p := recover(); p != nil {
			root, second, err = nil, nil, fmt.Errorf("yaml: the parser gave up: %v", p)
		}
	}()
	d := yaml.NewDecoder(bytes.NewReader(data))
	if root, err = next(d); root == nil || err != nil {
		return nil, nil, err
	}
	second, err = next(d)
	return root, second, err
}

func next(d *yaml.Decoder) (*yaml.Node, error) {
	var document yaml.Node
	if err := d.Decode(&document); err == io.EOF {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	if len(document.Content) == 0 {
		return &document, nil
	}
	return document.Content[0], nil
}

// separator finds the line that starts a document, from a node in it.
func (f *File) separator(n *yaml.Node) diag.Pos {
	pos := f.position(n.Line, n.Column)
	for line := pos.Line; line > 1; line-- {
		if text := f.lineAt(line); strings.HasPrefix(text, "---") || strings.HasPrefix(text, "...") {
			return diag.Pos{File: f.Name, Line: line, Column: 1}
		}
	}
	return pos
}
