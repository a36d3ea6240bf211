package topology

import (
	"testing"
	"testing/fstest"

	"github.com/cosim-go/cosim/topology/diag"
	"github.com/cosim-go/cosim/topology/layout"
	"github.com/cosim-go/cosim/topology/schema"
)

// TestSteps shows that the steps of a load are functions of their own, each of which
// finds the problems that are its business.
//
// Requirements: P1
func TestSteps(t *testing.T) {
	files := fstest.MapFS{
		"main.yaml": {Data: []byte(`version: 1
imports: [lib.yaml, nowhere.yaml]
kinds: {d: {role: device, program: p}}
machines:
  - {id: a, vhost: {use: v, memory: 1000}, devices: [{kind: d, count: 0}]}
`)},
		"lib.yaml": {Data: []byte("version: 1\ntemplates: {v: {kind: qemu-vhost}, w: {use: w}}\n")},
	}
	documents, problems := Read(FromFS(files), "main.yaml", testOptions())
	wantCodes(t, "Read", problems, schema.ImportNotFound)
	if got := documents.Files(); len(got) != 2 || got[1] != "lib.yaml" {
		t.Errorf("Files() = %q, want both files", got)
	}
	merged, problems := documents.Merge()
	wantCodes(t, "Merge", problems, schema.TemplateCycle)
	model, problems := merged.Expand()
	wantCodes(t, "Expand", problems, schema.OutOfRange)
	if model != nil {
		t.Error("Expand gives a model in spite of an error")
	}

	files["main.yaml"].Data = []byte("version: 1\nimports: [lib.yaml]\nmachines:\n  - {id: a, vhost: {use: v, memory: 1000}}\n")
	files["lib.yaml"].Data = []byte("version: 1\ntemplates: {v: {kind: qemu-vhost}}\n")
	documents, problems = Read(FromFS(files), "main.yaml", testOptions())
	wantCodes(t, "Read", problems)
	merged, problems = documents.Merge()
	wantCodes(t, "Merge", problems)
	model, problems = merged.Expand()
	wantCodes(t, "Expand", problems)
	_, problems = Layout(model, testPage)
	wantCodes(t, "Layout", problems, schema.RegionSize)
	if l, problems := Layout(model, 8); l == nil || l.Machines[0].Size != 1000 {
		t.Errorf("Layout with pages of 8 bytes = %v, %v, want a pool of 1000 bytes", l, problems)
	}
}

func wantCodes(t *testing.T, step string, problems diag.List, want ...string) {
	t.Helper()
	if len(problems) != len(want) {
		t.Fatalf("%s reports %d problems, want %d:\n%s", step, len(problems), len(want), text(t, problems))
	}
	for i, d := range problems {
		if d.Code != want[i] {
			t.Errorf("%s reports %s, want %s: %v", step, d.Code, want[i], d)
		}
	}
}

// TestLayoutPageSize shows that the page size is an argument, and checked.
//
// Requirements: P2, L2
func TestLayoutPageSize(t *testing.T) {
	model := mustLoad(t, "version: 1\nmachines:\n  - {id: a, vhost: {kind: qemu-vhost, memory: 12K}}\n")
	if _, problems := Layout(model, 4096); problems != nil {
		t.Errorf("12K in pages of 4K is refused: %v", problems)
	}
	_, problems := Layout(model, 16384)
	wantCodes(t, "Layout", problems, schema.RegionSize)
	if pos := problems[0].Pos; pos != (diag.Pos{File: "main.yaml", Line: 3, Column: 47}) {
		t.Errorf("the problem is at %v, want the memory's value", pos)
	}
	for _, page := range []layout.Size{0, 3, 4097} {
		l, problems := Layout(model, page)
		wantCodes(t, "Layout", problems, schema.BadPageSize)
		if l != nil {
			t.Errorf("Layout with a page of %d bytes gives a layout", page)
		}
	}
}
