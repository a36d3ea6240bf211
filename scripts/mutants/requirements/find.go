package requirements

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// find reads all tests of a working tree.
func find(root string) (mentions []Mention, problems []string, err error) {
	err = filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if entry.IsDir() {
			if name == "build" || name != "." && strings.HasPrefix(entry.Name(), ".") {
				return fs.SkipDir
			}
			return nil
		}
		data := slices.Contains(strings.Split(path.Dir(name), "/"), "testdata")
		if !entry.Type().IsRegular() || !data && !strings.HasSuffix(name, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		var more []Mention
		var wrong []string
		if data {
			more = inData(name, text)
		} else if more, wrong, err = inTests(name, text); err != nil {
			return err
		}
		mentions, problems = append(mentions, more...), append(problems, wrong...)
		return nil
	})
	return mentions, problems, err
}

func inData(name string, text []byte) []Mention {
	var mentions []Mention
	n := 0
	for line := range bytes.Lines(text) {
		n++
		for _, id := range named(string(line)) {
			mentions = append(mentions, Mention{id, name, fmt.Sprintf("%s:%d", name, n)})
		}
	}
	return mentions
}

// inTests finds the comments of a test file, and the tests that they belong to.
func inTests(name string, text []byte) (mentions []Mention, problems []string, err error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, nil, err
	}
	for _, group := range file.Comments {
		for _, comment := range group.List {
			start := set.Position(comment.Pos()).Line
			for i, line := range strings.Split(comment.Text, "\n") {
				ids := named(line)
				if ids == nil {
					continue
				}
				at := fmt.Sprintf("%s:%d", name, start+i)
				test := testAt(file, comment.Pos())
				if test == "" {
					problems = append(problems, fmt.Sprintf("%s: requirements are named, but not at a test", at))
					continue
				}
				for _, id := range ids {
					mentions = append(mentions, Mention{id, path.Dir(name) + " " + test, at})
				}
			}
		}
	}
	return mentions, problems, nil
}

// A benchmark is no test: nothing but a person looks at what it says.
var testName = regexp.MustCompile(`^(Test|Fuzz|Example)([^a-z]|$)`)

// testAt is the test whose comment or body a position is in, and "" where there is none.
func testAt(file *ast.File, pos token.Pos) string {
	for _, decl := range file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || f.Recv != nil || !testName.MatchString(f.Name.Name) {
			continue
		}
		start := f.Pos()
		if f.Doc != nil {
			start = f.Doc.Pos()
		}
		if start <= pos && pos < f.End() {
			return f.Name.Name
		}
	}
	return ""
}
