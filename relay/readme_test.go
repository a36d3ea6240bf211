package relay_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Requirement: D9. The code in README.md is that of the packages' Examples, which are compiled and run: the body of an
// Example, or another function of theirs as it stands.
func TestReadmeShowsTheExamples(t *testing.T) {
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	wanted := map[string]bool{"cartridge": true, "host": true, "route": true}
	code := map[string]string{} // the package, by the code
	for name := range wanted {
		for _, f := range functions(t, filepath.Join(name, "example_test.go")) {
			code[f] = name
		}
	}
	for _, block := range regexp.MustCompile("(?ms)^```go\n(.*?)^```$").FindAllStringSubmatch(string(page), -1) {
		name, ok := code[block[1]]
		if !ok {
			t.Errorf("README.md has what no Example has:\n%s", block[1])
		}
		delete(wanted, name)
	}
	for name := range wanted {
		t.Errorf("README.md has no Example of package %s", name)
	}
}

// functions returns the functions of a file as README.md may show them: of an Example the body, moved to the left, and
// all of any other.
func functions(t *testing.T, name string) (all []string) {
	t.Helper()
	source, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	text := func(from, to token.Pos) string {
		return string(source[files.Position(from).Offset:files.Position(to).Offset])
	}
	for _, decl := range file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok {
			continue
		}
		if !strings.HasPrefix(f.Name.Name, "Example") {
			all = append(all, text(f.Pos(), f.End())+"\n")
			continue
		}
		body := strings.ReplaceAll(text(f.Body.Lbrace+1, f.Body.Rbrace), "\n\t", "\n")
		all = append(all, strings.TrimPrefix(body, "\n"))
	}
	return all
}

// Links of the pages of this module lead to files that are there.
func TestLinks(t *testing.T) {
	for _, page := range []string{"README.md", "PROTOCOL.md"} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, link := range regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`).FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat(link[1]); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
	}
}
