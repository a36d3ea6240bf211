package main

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/cosim-go/cosim/scripts/mutants/requirements"
)

const root = "../.."

// Each mutant fits the working tree, so that a change of the code cannot leave a mutant
// behind that breaks nothing.
func TestEachMutantFitsTheWorkingTree(t *testing.T) {
	list, err := table()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range list {
		content, err := os.ReadFile(filepath.Join(root, m.file))
		if err != nil {
			t.Errorf("%v: %v", m, err)
			continue
		}
		if _, err := m.apply(string(content)); err != nil {
			t.Errorf("%v: %s: %v", m, m.file, err)
		}
	}
}

// Rows of the repository's shape are not all rules that code can break.
var shape = regexp.MustCompile(`^D`)

func TestEachRequirementHasAMutant(t *testing.T) {
	rows, err := requirements.Rows(root)
	if err != nil {
		t.Fatal(err)
	}
	list, err := table()
	if err != nil {
		t.Fatal(err)
	}
	missing := make(map[string]bool)
	known := make(map[string]bool)
	for _, r := range rows {
		known[r.ID] = true
		missing[r.ID] = !shape.MatchString(r.ID)
	}
	for _, m := range list {
		if !known[m.id] {
			t.Errorf("%v: there is no such requirement", m)
		}
		missing[m.id] = false
	}
	for _, r := range rows {
		if missing[r.ID] {
			t.Errorf("no mutant breaks %s: %s", r.ID, r.Text)
		}
	}
}

const twoMutants = `Words about the file.

== T6: a sequence is added to
# a remark
file a/b.go
test a ./b TestMerge/sequences
 	if x {
-		return y
-
+		return append(x, y...)

== L1: nothing comes first
file c.go
test c ./... TestPlace long
-first
`

func TestParse(t *testing.T) {
	list, err := parse("t.txt", twoMutants)
	if err != nil {
		t.Fatal(err)
	}
	want := []mutant{
		{
			"T6", "a sequence is added to", "a/b.go", command{"a", "./b", "TestMerge/sequences", false},
			"\tif x {\n\t\treturn y\n\n", "\tif x {\n\t\treturn append(x, y...)\n",
		},
		{"L1", "nothing comes first", "c.go", command{"c", "./...", "TestPlace", true}, "first\n", ""},
	}
	if len(list) != 2 || list[0] != want[0] || list[1] != want[1] {
		t.Errorf("parse = %q, want %q", list, want)
	}
}

func TestParseRejects(t *testing.T) {
	good := "== T6: x\nfile f\ntest m ./... TestX\n-a\n+b\n"
	if _, err := parse("t.txt", good); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"a head without an ID":    strings.Replace(good, "T6", "", 1),
		"an unknown line":         good + "fiel f\n",
		"a test without pattern":  strings.Replace(good, " TestX", "", 1),
		"a pattern that is none":  strings.Replace(good, "TestX", "Test(", 1),
		"a mutant without a file": strings.Replace(good, "file f\n", "", 1),
		"a mutant without a test": strings.Replace(good, "test m ./... TestX\n", "", 1),
		"a mutant that is none":   strings.Replace(good, "+b", "+a", 1),
		"only new lines":          strings.Replace(good, "-a\n", "", 1),
	} {
		if list, err := parse("t.txt", text); err == nil {
			t.Errorf("%s: parse = %v, want an error", name, list)
		}
	}
}

func TestApply(t *testing.T) {
	m := mutant{old: "b\n", new: "x\ny\n"}
	for _, c := range []struct{ content, want string }{
		{"a\nb\nc\n", "a\nx\ny\nc\n"},
		{"b\nc\n", "x\ny\nc\n"},
		{"ab\nb\n", "ab\nx\ny\n"}, // whole lines
		{"a\nc\n", ""},
		{"b\na\nb\n", ""},
		{"b\nb\n", ""},
		{"ab\n", ""},
	} {
		got, err := m.apply(c.content)
		if got != c.want || errors.Is(err, errStale) != (c.want == "") {
			t.Errorf("apply(%q) = %q, %v, want %q", c.content, got, err, c.want)
		}
	}
}
