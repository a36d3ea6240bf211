package structure

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const repository = "github.com/cosim-go/cosim/"

// What each module may import of the others.
var mayImport = map[string][]string{
	"topology":               {},
	"adapters":               {"topology"},
	"runtime":                {"topology", "adapters"},
	"relay":                  {},
	"relay/bench":            {"relay"},
	"resources":              {},
	"cmd/cosim":              {"topology", "adapters", "runtime", "relay", "resources"},
	"examples/cartridges":    {"relay"},
	"examples/custom-host":   {"relay"},
	"examples/embed-relay":   {"relay"},
	"examples/inspect":       {"topology"},
	"examples/loopback":      {},
	"examples/pci-dma/check": {"topology", "runtime"},
	"scripts/mutants":        {},
}

// What their tests may import too.
var testsMayImport = map[string][]string{
	"resources": {"topology", "adapters"},
}

// Requirement: D1
func TestEachModuleStandsInTheWorkspaceByItsOwnPath(t *testing.T) {
	modules := modules(t)
	for dir := range mayImport {
		if !slices.Contains(modules, dir) {
			t.Errorf("%s has no go.mod", dir)
		}
	}
	var work struct{ Use []struct{ DiskPath string } }
	goJSON(t, &work, "work", "edit", "-json", filepath.Join(root, "go.work"))
	var used []string
	for _, use := range work.Use {
		used = append(used, strings.TrimPrefix(use.DiskPath, "./"))
	}
	slices.Sort(used)
	if !slices.Equal(used, modules) {
		t.Errorf("go.work uses %q, want every module: %q", used, modules)
	}
	for _, dir := range modules {
		var mod struct{ Module struct{ Path string } }
		goJSON(t, &mod, "mod", "edit", "-json", filepath.Join(root, dir, "go.mod"))
		if mod.Module.Path != repository+dir {
			t.Errorf("the module in %s is called %q, want %q", dir, mod.Module.Path, repository+dir)
		}
	}
}

// Requirements: D2, D4, D6. Imports point from cosim to runtime to adapters to topology,
// and relay stands apart.
func TestModulesImportInOneDirection(t *testing.T) {
	modules := modules(t)
	for _, module := range modules {
		allowed, known := mayImport[module]
		if !known {
			t.Errorf("what %s may import is not said", module)
		}
		for _, file := range sources(t, module, true) {
			allowed := allowed
			if strings.HasSuffix(file.name, "_test.go") {
				allowed = slices.Concat(allowed, testsMayImport[module])
			}
			for _, path := range file.imports() {
				rest, ours := strings.CutPrefix(path, repository)
				if !ours {
					continue
				}
				imported := moduleOf(modules, rest)
				if imported != module && !slices.Contains(allowed, imported) {
					t.Errorf("%s imports %s, which %s must not", file.name, path, module)
				}
			}
		}
	}
}

// Requirements: D3, D4, D5, D7
func TestRepositoryHasItsParts(t *testing.T) {
	for _, name := range []string{
		"go.work", "LICENSE", "README.md", "CONTRIBUTING.md", "Makefile", ".ci/run",
		"topology/layout", "adapters/gem5mi300x", "adapters/qemudevice", "adapters/qemuvhost", "adapters/template",
		"runtime/execenv", "runtime/session", "runtime/plan", "runtime/pool", "relay", "cmd/cosim", "resources", "examples", "docs",
	} {
		if _, err := os.Stat(filepath.Join(root, name)); err != nil {
			t.Error(err)
		}
	}
}

// modules lists the directories with a go.mod, sorted.
func modules(t *testing.T) []string {
	t.Helper()
	var dirs []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() && path != root && (strings.HasPrefix(name, ".") || name == "build" || name == "testdata") {
			return fs.SkipDir
		}
		if name == "go.mod" {
			dir, err := filepath.Rel(root, filepath.Dir(path))
			if err != nil {
				return err
			}
			dirs = append(dirs, filepath.ToSlash(dir))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(dirs)
	return dirs
}

// moduleOf is the module that a package of this repository is in, or a file by its path: the
// innermost one.
func moduleOf(modules []string, path string) string {
	innermost := ""
	for _, m := range modules {
		if (path == m || strings.HasPrefix(path, m+"/")) && len(m) > len(innermost) {
			innermost = m
		}
	}
	return innermost
}

// goJSON runs the go command and decodes what it prints.
func goJSON(t *testing.T, into any, args ...string) {
	t.Helper()
	out, err := exec.Command("go", args...).Output()
	if err != nil {
		t.Fatalf("go %s: %v", strings.Join(args, " "), err)
	}
	if err := json.Unmarshal(out, into); err != nil {
		t.Fatal(err)
	}
}
