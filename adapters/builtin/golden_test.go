package builtin_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cosim-go/cosim/adapters"
	"github.com/cosim-go/cosim/adapters/adapterstest"
	"github.com/cosim-go/cosim/adapters/builtin"
	"github.com/cosim-go/cosim/topology"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "rewrite the golden command lines in testdata")

// goldenRoot is what all paths of a golden command line are below.
const goldenRoot = "/session"

// A golden is an archive of testdata: a topology, and for each process its arguments,
// one a line, and the rest of its command as JSON. The comment at its head may hold
// directives, one a line: "kvm", and "root NAME" for a directory with an odd name.
type golden struct {
	path     string
	archive  *txtar.Archive
	machines []*adapters.Machine
	commands map[string]adapters.Command
	ids      []string // of the processes, in order
}

func goldens(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	return paths
}

// loadGolden reads an archive and renders its topology below a root.
func loadGolden(t *testing.T, path, root string) *golden {
	t.Helper()
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	g := &golden{path: path, archive: archive, commands: map[string]adapters.Command{}}
	options := adapterstest.Options{Root: root}
	for line := range strings.Lines(string(archive.Comment)) {
		switch name, value, _ := strings.Cut(strings.TrimSpace(line), " "); name {
		case "kvm":
			options.KVM = true
		case "root":
			options.Root = filepath.Join(root, value)
		}
	}
	model := loadModel(t, string(archive.Files[0].Data))
	if g.machines, err = adapterstest.Machines(model, options); err != nil {
		t.Fatal(err)
	}
	for _, m := range g.machines {
		processes, list, err := adapterstest.Render(m, find)
		if err != nil {
			t.Fatal(err)
		}
		if err := list.Err(); err != nil {
			t.Fatal(err)
		}
		for _, p := range processes {
			g.ids, g.commands[p.ID] = append(g.ids, p.ID), p.Command
		}
	}
	return g
}

func find(k *topology.Kind) adapters.Adapter { return builtin.For(builtin.Table(), k) }

func loadModel(t testing.TB, text string) *topology.Model {
	t.Helper()
	model, list := adapterstest.Load(text, builtin.Table().Kinds())
	if err := list.Err(); err != nil {
		t.Fatal(err)
	}
	return model
}

// section finds a file of the archive.
func (g *golden) section(name string) (string, bool) {
	for _, f := range g.archive.Files {
		if f.Name == name {
			return string(f.Data), true
		}
	}
	return "", false
}

// lines gives the arguments of a process as they stand in the archive.
func (g *golden) lines(t *testing.T, id string) []string {
	t.Helper()
	text, ok := g.section(id)
	if !ok {
		t.Fatalf("%s has no section %q", g.path, id)
	}
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// rest is a command without its arguments.
func rest(c adapters.Command) string {
	data, err := json.MarshalIndent(struct {
		Program string
		Env     []topology.EnvVar `json:",omitempty"`
		Ready   adapters.Ready
		Stop    adapters.Stop
		Expect  string          `json:",omitempty"`
		Dirs    []string        `json:",omitempty"`
		FDs     []adapters.FD   `json:",omitempty"`
		Files   []adapters.File `json:",omitempty"`
	}{c.Program.Name, c.Env, c.Ready, c.Stop, c.Expect, c.Dirs, c.FDs, c.Files}, "", "  ")
	if err != nil {
		panic(err)
	}
	return string(data) + "\n"
}

// Requirements: D5, X6
func TestGolden(t *testing.T) {
	for _, path := range goldens(t) {
		t.Run(name(path), func(t *testing.T) {
			g := loadGolden(t, path, goldenRoot)
			if *update {
				g.rewrite(t)
			}
			for _, id := range g.ids {
				if got, want := g.commands[id].Args, g.lines(t, id); !slices.Equal(got, want) {
					t.Errorf("arguments of %s:\n%s\nwant:\n%s", id, strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
				if want, _ := g.section(id + " command"); rest(g.commands[id]) != want {
					t.Errorf("command of %s:\n%s\nwant:\n%s", id, rest(g.commands[id]), want)
				}
			}
			if got, want := len(g.archive.Files), 1+2*len(g.ids); got != want {
				t.Errorf("the archive has %d sections, want %d", got, want)
			}
		})
	}
}

func (g *golden) rewrite(t *testing.T) {
	t.Helper()
	g.archive.Files = g.archive.Files[:1]
	for _, id := range g.ids {
		c := g.commands[id]
		g.archive.Files = append(g.archive.Files,
			txtar.File{Name: id, Data: argumentLines(c.Args)},
			txtar.File{Name: id + " command", Data: []byte(rest(c))})
	}
	if err := os.WriteFile(g.path, txtar.Format(g.archive), 0o644); err != nil {
		t.Fatal(err)
	}
}

// argumentLines writes arguments one a line. An empty argument is an empty line.
func argumentLines(args []string) []byte {
	var b strings.Builder
	for _, a := range args {
		b.WriteString(a + "\n")
	}
	return []byte(b.String())
}

func name(path string) string { return strings.TrimSuffix(filepath.Base(path), ".txtar") }
