package resources_test

import (
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cosim-go/cosim/adapters/builtin"
	"github.com/cosim-go/cosim/resources"
	"github.com/cosim-go/cosim/topology"
	"github.com/cosim-go/cosim/topology/layout"
	"gopkg.in/yaml.v3"
)

// files lists every document of the library.
func files(t *testing.T) []string {
	t.Helper()
	var list []string
	err := fs.WalkDir(resources.FS, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			list = append(list, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// load loads a document with the library behind it, and lays it out.
func load(t *testing.T, source topology.Source, name string) (*topology.Model, *layout.Layout) {
	t.Helper()
	model, list := topology.Load(source, name, &topology.Options{Resources: []string{"library"}, Kinds: builtin.Table().Kinds()})
	if len(list) > 0 {
		t.Fatalf("%s: %v", name, list)
	}
	placed, list := topology.Layout(model, 4096)
	if len(list) > 0 {
		t.Fatalf("%s: %v", name, list)
	}
	return model, placed
}

// library answers paths below "library" with the files of the library, and test.yaml with
// a text.
func library(t *testing.T, text string) topology.Source {
	t.Helper()
	fsys := fstest.MapFS{"test.yaml": {Data: []byte(text)}}
	for _, name := range files(t) {
		data, err := fs.ReadFile(resources.FS, name)
		if err != nil {
			t.Fatal(err)
		}
		fsys[path.Join("library", name)] = &fstest.MapFile{Data: data}
	}
	return topology.FromFS(fsys)
}

// Requirements: T9, X4
func TestEveryFileLoads(t *testing.T) {
	source := library(t, "")
	all := files(t)
	for _, name := range []string{"vhosts/qemu.yaml", "devices/gpu/mi300x.yaml", "machines/single-gpu.yaml"} {
		if !slices.Contains(all, name) {
			t.Errorf("there is no %s", name)
		}
	}
	for _, name := range all {
		model, _ := load(t, source, path.Join("library", name))
		runs := strings.HasPrefix(name, "machines/") || strings.HasPrefix(name, "clusters/")
		if runs != (len(model.Machines) > 0) {
			t.Errorf("%s has %d machines", name, len(model.Machines))
		}
	}
}

// Requirement: T9
func TestImportsPointDown(t *testing.T) {
	may := map[string][]string{"machines": {"vhosts", "devices"}, "clusters": {"machines"}}
	for _, name := range files(t) {
		data, err := fs.ReadFile(resources.FS, name)
		if err != nil {
			t.Fatal(err)
		}
		var document struct{ Imports []string }
		if err := yaml.Unmarshal(data, &document); err != nil {
			t.Fatal(err)
		}
		dir, _, _ := strings.Cut(name, "/")
		imported := map[string]bool{}
		for _, i := range document.Imports {
			from, _, _ := strings.Cut(i, "/")
			imported[from] = true
			if !slices.Contains(may[dir], from) {
				t.Errorf("%s imports %s", name, i)
			}
		}
		if len(imported) != len(may[dir]) {
			t.Errorf("%s imports from %v, want from %q", name, imported, may[dir])
		}
	}
}

// Requirements: T4, T5, T9
func TestUsersDocument(t *testing.T) {
	model, placed := load(t, library(t, `version: 1
imports:
  - vhosts/qemu.yaml
  - devices/gpu/mi300x.yaml
machines:
  - id: m0
    vhost: {use: vhost-x86, memory: 32G}
    devices:
      - {use: mi300x, count: 2}
`), "test.yaml")
	m := model.Machines[0]
	if m.Vhost.Kind.Name != "qemu-vhost" || m.Devices[1].Kind.Name != "gem5-mi300x" {
		t.Errorf("kinds are %s and %s", m.Vhost.Kind.Name, m.Devices[1].Kind.Name)
	}
	checkRegion(t, placed, "mi300x-1.vram", 40, 8)
}

// Requirements: L3, T9
func TestEightGPUs(t *testing.T) {
	_, placed := load(t, library(t, ""), "library/machines/eight-gpu.yaml")
	if got := placed.Machines[0].Size; got != 96*layout.GiB {
		t.Errorf("the pool has %s, want 96 GiB", got.Human())
	}
	checkRegion(t, placed, "mi300x-0.vram", 32, 8)
	checkRegion(t, placed, "mi300x-7.vram", 88, 8)
}

// checkRegion compares a region's offset and size, both in GiB.
func checkRegion(t *testing.T, placed *layout.Layout, name string, offset, size layout.Size) {
	t.Helper()
	r, ok := placed.Machines[0].Region(name)
	if !ok || layout.Size(r.Offset) != offset*layout.GiB || r.Size != size*layout.GiB {
		t.Errorf("region %s is at %d with %d bytes (found: %v), want at %d GiB with %d GiB", name, r.Offset, r.Size, ok, offset, size)
	}
}

// Each file of devices/ defines a template of its own name.
func TestDeviceFilesAreNamedAfterTheirTemplate(t *testing.T) {
	for _, name := range files(t) {
		if !strings.HasPrefix(name, "devices/") {
			continue
		}
		data, err := fs.ReadFile(resources.FS, name)
		if err != nil {
			t.Fatal(err)
		}
		var document struct{ Templates map[string]any }
		if err := yaml.Unmarshal(data, &document); err != nil {
			t.Fatal(err)
		}
		if _, ok := document.Templates[strings.TrimSuffix(path.Base(name), ".yaml")]; !ok {
			t.Errorf("%s defines %v", name, document.Templates)
		}
	}
}
