// Package imports reads a document and everything that it imports.
package imports

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/cosim-go/cosim/topology/diag"
	"github.com/cosim-go/cosim/topology/internal/decode"
	"github.com/cosim-go/cosim/topology/internal/report"
	"github.com/cosim-go/cosim/topology/internal/source"
	"github.com/cosim-go/cosim/topology/schema"
)

// A Source answers a path with a document.
type Source func(path string) (data []byte, canonical string, err error)

// A Set is what one load has read.
type Set struct {
	Documents []*Document // in order of reading, the top-level one first
	Names     []string    // of every file that was opened, in order of reading

	// Incomplete says that a document could not be read, so that names may be missing.
	Incomplete bool
}

// A Document is one file with its sections.
type Document struct {
	Fields *decode.Record
}

// reader holds what one load needs to know.
type reader struct {
	open      Source
	resources []string
	budget    *source.Budget
	context   *decode.Context
	set       *Set

	opened map[string]opened // by path
	done   map[string]bool   // by canonical name: read to its end
	stack  []visit           // being read, the top-level document first
}

// opened is what came of opening a path.
type opened struct {
	canonical string
	err       error
}

type visit struct {
	name, canonical string
	at              source.Value // the import; absent for the top-level document
}

// Read reads the document called name and what it imports. An import is looked for
// relative to the importing file, then in each of the resource directories.
func Read(open Source, name string, resources []string, budget *source.Budget, sink *report.Sink) *Set {
	r := &reader{
		open: open, resources: resources, budget: budget, set: &Set{},
		context: &decode.Context{Sink: sink, Budget: budget},
		opened:  make(map[string]opened),
		done:    make(map[string]bool),
	}
	data, canonical, err := r.openOnce(name)
	if err != nil {
		r.set.Incomplete = true
		sink.Add(unreadable(name, err))
		return r.set
	}
	r.document(visit{name: name, canonical: canonical}, data)
	return r.set
}

// openOnce opens a path, unless it was opened before: then there is no data, since its
// file has been read or is being read.
func (r *reader) openOnce(name string) (data []byte, canonical string, err error) {
	if o, known := r.opened[name]; known {
		return nil, o.canonical, o.err
	}
	data, canonical, err = r.open(name)
	if canonical == "" {
		canonical = path.Clean(name)
	}
	r.opened[name] = opened{canonical, err}
	return data, canonical, err
}

func unreadable(name string, err error) diag.Diagnostic {
	d := diag.Diagnostic{Pos: diag.Pos{File: name}, Code: schema.FileUnreadable, Message: "cannot be read: " + reason(err), Err: err}
	if errors.Is(err, fs.ErrNotExist) {
		d.Code, d.Message = schema.FileNotFound, "no such file"
	}
	return d
}

// reason is an error without the path and the operation, which the position tells.
func reason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}

func (r *reader) document(v visit, data []byte) {
	r.set.Names = append(r.set.Names, v.name)
	importer := r.context // which is inside its own imports
	r.context = &decode.Context{Sink: importer.Sink, Budget: r.budget}
	defer func() { r.context = importer }()
	file := source.Parse(v.name, data, r.budget, r.context.Sink)
	root := file.Root()
	if !root.Present() || !r.version(root) {
		r.set.Incomplete = true
		r.done[v.canonical] = true
		return
	}
	fields, _ := r.context.Section(root, schema.Document)
	d := &Document{Fields: fields}
	if !root.IsMapping() || len(d.Fields.Meant) > 0 {
		r.set.Incomplete = true
	}
	r.set.Documents = append(r.set.Documents, d)
	r.stack = append(r.stack, v)
	if imports := d.Fields.Get("imports"); imports.Present() {
		r.context.Enter("imports")
		r.context.Items(imports, "paths", func(_ int, item source.Value) { r.follow(item) })
		r.context.Leave()
	}
	r.stack = r.stack[:len(r.stack)-1]
	r.done[v.canonical] = true
}

// version reports whether a document is of the version that is known here. One that
// does not say is read all the same, and the missing field reported.
func (r *reader) version(root source.Value) bool {
	if !root.IsMapping() {
		return true // which is reported with the document
	}
	e, ok := root.Get("version")
	if !ok || e.Value.IsNull() {
		return true
	}
	if e.Value.IsScalar() && e.Value.Class() == source.Int && e.Value.Text() == "1" {
		return true
	}
	p := decode.Problem{Code: schema.BadVersion, Hint: "write version: 1"}
	if e.Value.IsScalar() {
		p.Message = fmt.Sprintf("version must be the integer 1, not %s", spelled(e.Value))
	} else {
		p.Message = "version must be the integer 1"
	}
	r.context.Enter("version")
	r.context.Report(e.Value, p)
	r.context.Leave()
	return false
}

func spelled(v source.Value) string {
	if v.Plain() {
		return v.Text()
	}
	return fmt.Sprintf("%q", v.Text())
}

// follow reads what an item of `imports` names.
func (r *reader) follow(item source.Value) {
	name, ok := r.importPath(item)
	if !ok {
		r.set.Incomplete = true
		return
	}
	importer := r.stack[len(r.stack)-1].name
	var tried []string
	for _, candidate := range r.candidates(importer, name) {
		data, canonical, err := r.openOnce(candidate)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			tried = append(tried, candidate)
			continue
		case err != nil:
			r.set.Incomplete = true
			r.context.Report(item, decode.Problem{
				Code: schema.FileUnreadable, Message: fmt.Sprintf("import %q: %s cannot be read: %s", name, candidate, reason(err)), Err: err,
			})
		default:
			r.visit(visit{candidate, canonical, item}, data)
		}
		return
	}
	r.set.Incomplete = true
	r.context.Report(item, decode.Problem{
		Code:    schema.ImportNotFound,
		Message: fmt.Sprintf("import %q is not found", name),
		Hint:    "looked for " + strings.Join(tried, ", "),
		Err:     fs.ErrNotExist,
	})
}

func (r *reader) visit(v visit, data []byte) {
	if r.done[v.canonical] {
		return
	}
	for i, open := range r.stack {
		if open.canonical == v.canonical {
			r.cycle(v, r.stack[i:])
			return
		}
	}
	r.document(v, data)
}

// cycle reports that the last of the open documents imports the first of them, which is
// what v names.
func (r *reader) cycle(v visit, open []visit) {
	names := make([]string, 0, len(open)+1)
	edges := make([]source.Value, 0, len(open))
	for i, o := range open {
		names = append(names, o.name)
		if i > 0 {
			edges = append(edges, o.at)
		}
	}
	names, edges = append(names, open[0].name), append(edges, v.at)
	var related []diag.Related
	for _, e := range edges[1:] {
		related = append(related, diag.Related{Pos: e.Pos(), Message: "imported here"})
	}
	r.context.Report(edges[0], decode.Problem{
		Code:    schema.ImportCycle,
		Message: "import cycle: " + strings.Join(names, " → "),
		Related: related,
	})
}

const libraryFragment = "#templates"

func (r *reader) importPath(item source.Value) (string, bool) {
	text, ok := r.context.String(item, "path")
	if !ok {
		return "", false
	}
	name, fragment := text, ""
	if i := strings.IndexByte(text, '#'); i >= 0 {
		name, fragment = text[:i], text[i:]
	}
	p := decode.Problem{Code: schema.BadImport}
	switch {
	case name == "":
		p.Message = "import is empty"
	case fragment != "" && fragment != libraryFragment:
		p.Message = fmt.Sprintf("import %q ends in %q", text, fragment)
		p.Hint = fmt.Sprintf("write %q or %q", name, name+libraryFragment)
	default:
		return name, true
	}
	r.context.Report(item, p)
	return "", false
}

// candidates lists the files that an import may mean, in order. Elements ".." are kept:
// where a directory is a symbolic link, what is above it is the file system's to say.
func (r *reader) candidates(importer, name string) []string {
	if path.IsAbs(name) {
		return []string{name}
	}
	candidates := []string{join(dirOf(importer), name)}
	for _, dir := range r.resources {
		if c := join(dir, name); c != candidates[0] {
			candidates = append(candidates, c)
		}
	}
	return candidates
}

// dirOf is the directory of a file, with "/" behind it, and "" where the name has none.
func dirOf(name string) string { return name[:strings.LastIndexByte(name, '/')+1] }

// join joins without resolving "..".
func join(dir, name string) string {
	for strings.HasPrefix(name, "./") {
		name = strings.TrimLeft(name[2:], "/")
	}
	if dir != "" && !strings.HasSuffix(dir, "/") {
		dir += "/"
	}
	return dir + name
}
