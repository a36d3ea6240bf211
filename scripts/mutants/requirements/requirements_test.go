package requirements

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestEachRequirementIsNamedByATest(t *testing.T) {
	table, err := Read("../../..")
	if err != nil {
		t.Fatal(err)
	}
	if err := table.Err(); err != nil {
		t.Error(err)
	}
}

const document = `# Requirements

| ID | Required |
|---|---|
| A1 | it adds |
| A2 | it ends, and ` + "`|` is a pipe" + ` |
`

const tests = `package p

import "testing"

// Requirements: A1, A2. And some words.
func TestSum(t *testing.T) {}

func TestInside(t *testing.T) {
	// Requirement: A2
	for range 2 {
	}
}

// Requirement: A1
func FuzzSum(f *testing.F) {}
`

// tree makes a working tree.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestRead(t *testing.T) {
	table, err := Read(tree(t, map[string]string{
		Document: document, "m/p/p_test.go": tests,
		"m/testdata/script/a.txtar": "# Requirement: A1\nexec true\n",
		"m/p/p.go":                  "package p\n\n// Requirement: A2\nvar V int\n",
		"build/p_test.go":           tests,
		".git/p_test.go":            tests,
	}))
	if err != nil || table.Err() != nil {
		t.Fatal(err, table.Err())
	}
	if want := []Row{{"A1", "it adds"}, {"A2", "it ends, and `|` is a pipe"}}; !slices.Equal(table.Rows, want) {
		t.Errorf("Rows = %q, want %q", table.Rows, want)
	}
	for id, want := range map[string][]string{
		"A1": {"m/p FuzzSum", "m/p TestSum", "m/testdata/script/a.txtar"},
		"A2": {"m/p TestInside", "m/p TestSum"},
	} {
		if got := table.Tests[id]; !slices.Equal(got, want) {
			t.Errorf("Tests[%q] = %q, want %q", id, got, want)
		}
	}
}

func TestReadReports(t *testing.T) {
	for _, c := range []struct{ what, test, want string }{
		{"a row without a test", "// Requirement: A1\nfunc TestSum(t *testing.T) {}", "docs/requirements.md: no test names A2: it ends"},
		{"a benchmark", "// Requirements: A1, A2\nfunc BenchmarkSum(b *testing.B) {}", "m_test.go:5: requirements are named, but not at a test"},
		{"a helper", "// Requirements: A1, A2\nfunc Testify() {}", "m_test.go:5: requirements are named, but not at a test"},
		{"an ID that is no row", "// Requirements: A1, A2, A3\nfunc TestSum(t *testing.T) {}", "m_test.go:5: there is no requirement A3"},
	} {
		table, err := Read(tree(t, map[string]string{
			Document: document, "m_test.go": "package m\n\nimport \"testing\"\n\n" + c.test + "\n",
		}))
		if err != nil {
			t.Fatal(err)
		}
		if err := table.Err(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: Err = %v, want %q in it", c.what, err, c.want)
		}
	}
}

func TestRowsRejects(t *testing.T) {
	for what, text := range map[string]string{
		"a row that is there twice": document + "| A1 | it adds |\n",
		"no rows":                   "# Requirements\n",
	} {
		if rows, err := Rows(tree(t, map[string]string{Document: text})); err == nil {
			t.Errorf("%s: Rows = %v, want an error", what, rows)
		}
	}
}

func TestPrint(t *testing.T) {
	var out strings.Builder
	if err := Print(&out, tree(t, map[string]string{Document: document, "m/p/p_test.go": tests})); err != nil {
		t.Fatal(err)
	}
	want := "A1  it adds\n    - m/p FuzzSum\n    - m/p TestSum\nA2  it ends, and `|` is a pipe\n    - m/p TestInside\n    - m/p TestSum\n"
	if out.String() != want {
		t.Errorf("Print = %q, want %q", out.String(), want)
	}
}
