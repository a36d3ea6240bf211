package adapters_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"testing"
)

// Adapters render and do nothing else, so none may reach for the operating system. An
// import by way of another package says nothing: fmt needs os.
//
// Requirements: D5, X6
func TestNoImportReachesTheSystem(t *testing.T) {
	refused := map[string]bool{"os": true, "os/exec": true, "os/user": true, "net": true, "syscall": true, "time/tzdata": true, "plugin": true}
	files := 0
	err := fs.WalkDir(os.DirFS("."), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		files++
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range f.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if refused[name] || strings.HasPrefix(name, "golang.org/x/sys") || strings.Contains(name, "/cosim/runtime") || strings.Contains(name, "/cosim/cmd") {
				t.Errorf("%s imports %s", path, name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 10 {
		t.Errorf("looked at %d files only", files)
	}
}
