package structure

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// root is the root of the repository.
const root = "../../.."

// A sourceFile is a parsed Go file.
type sourceFile struct {
	*ast.File
	name string // relative to the root
	set  *token.FileSet
}

// sources parses the Go files below a directory of the repository, which must have some.
func sources(t *testing.T, dir string, withTests bool) []sourceFile {
	t.Helper()
	var files []sourceFile
	err := filepath.WalkDir(filepath.Join(root, dir), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && path != filepath.Join(root, dir) {
			if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil {
				return fs.SkipDir // a module within
			}
		}
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		if strings.HasSuffix(path, "_test.go") && !withTests {
			return nil
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		files = append(files, sourceFile{file, filepath.ToSlash(name), set})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatalf("%s has no Go files", dir)
	}
	return files
}

// imports are the paths that a file imports.
func (f sourceFile) imports() []string {
	paths := make([]string, len(f.Imports))
	for i, spec := range f.Imports {
		paths[i] = strings.Trim(spec.Path.Value, "`\"")
	}
	return paths
}

// uses calls visit for each selector whose left side is an identifier, such as time.Now.
func (f sourceFile) uses(visit func(left, right string, line int)) {
	ast.Inspect(f.File, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if left, ok := s.X.(*ast.Ident); ok {
				visit(left.Name, s.Sel.Name, f.set.Position(s.Pos()).Line)
			}
		}
		return true
	})
}
