package topology

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The packages that no code of this module imports by itself: they reach the system that
// it runs on, and what a topology means does not depend on that.
var forbiddenImports = []string{
	"os", "os/exec", "os/signal", "os/user", "net", "net/http", "net/netip", "syscall", "unsafe", "plugin",
	"path/filepath", "io/ioutil", "math/rand", "math/rand/v2", "crypto/rand", "runtime", "log", "log/slog", "embed",
	"golang.org/x/sys/unix",
}

// The functions of package time that look at the clock.
var clocks = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker", "LoadLocation", "Local"}

// TestNoSystem reads the module's own source: what it imports may need os itself (fmt
// does), but nothing here calls it.
//
// Requirements: D2, P2
func TestNoSystem(t *testing.T) {
	files := 0
	err := fs.WalkDir(os.DirFS("."), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		files++
		checkImports(t, path)
		return nil
	})
	if err != nil || files < 30 {
		t.Fatalf("looked at %d files: %v", files, err)
	}
}

func checkImports(t *testing.T, path string) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range file.Imports {
		name, _ := strconv.Unquote(spec.Path.Value)
		if slices.Contains(forbiddenImports, name) {
			t.Errorf("%v: imports %s", set.Position(spec.Pos()), name)
		}
		if strings.HasPrefix(name, "github.com/cosim-go/cosim/") && !strings.HasPrefix(name, "github.com/cosim-go/cosim/topology") {
			t.Errorf("%v: imports %s, which imports this module", set.Position(spec.Pos()), name)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && x.Name == "time" && slices.Contains(clocks, s.Sel.Name) {
				t.Errorf("%v: calls time.%s", set.Position(s.Pos()), s.Sel.Name)
			}
		}
		return true
	})
}
