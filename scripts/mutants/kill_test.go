package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var files = map[string]string{
	"m/go.mod": "module example.com/m\n\ngo 1.25\n",
	"m/m.go":   "package m\n\nfunc Sum(a, b int) int {\n\treturn a + b\n}\n\nfunc Untested() int {\n\treturn 1\n}\n",
	"m/m_test.go": `package m

import "testing"

func TestSum(t *testing.T) {
	t.Run("of three", func(t *testing.T) {
		if got := Sum(1, 2); got != 3 {
			t.Errorf("Sum(1, 2) = %d, want 3", got)
		}
	})
}
`,
	"m/ends/ends.go":      "package ends\n\nconst Code = 0\n",
	"m/ends/ends_test.go": "package ends\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestMain(m *testing.M) {\n\tm.Run()\n\tos.Exit(Code)\n}\n\nfunc TestNothing(*testing.T) {}\n",
	"ignored":             "not copied\n",
	".gitignore":          "ignored\n",
}

// scratch makes a repository whose files no commit holds yet.
func scratch(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command("git", "-C", dir, "init", "--quiet").CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	t.Setenv("GOWORK", "off")
	t.Setenv("TMPDIR", t.TempDir())
	return dir
}

func sum(what, old, new string) mutant {
	return mutant{"T1", what, "m/m.go", command{"m", ".", "TestSum", false}, old, new}
}

func TestKill(t *testing.T) {
	dir := scratch(t)
	ends := mutant{"T1", "exits", "m/ends/ends.go", command{"m", "./ends", "TestNothing", false}, "const Code = 0\n", "const Code = 3\n"}
	for _, c := range []struct {
		list []mutant
		want string // a pattern of the output
		good bool
	}{
		{[]mutant{sum("subtracts", "\treturn a + b\n", "\treturn a - b\n")}, `T1  killed by m TestSum/of_three \([0-9.]+ s\): subtracts\n1 mutants, all killed`, true},
		{[]mutant{sum("panics", "\treturn a + b\n", "\tpanic(a)\n")}, `T1  killed by m TestSum/of_three`, true},
		{[]mutant{sum("two", "\treturn 1\n", "\treturn 2\n")}, `T1  SURVIVED m TestSum \([0-9.]+ s\): two`, false},
		{[]mutant{sum("nonsense", "\treturn 1\n", "\treturn \"\"\n")}, `T1  ERROR: does not compile: nonsense\n(.*\n)*.*m\.go:8`, false},
		{[]mutant{sum("old", "\treturn 0\n", "\treturn 2\n")}, `T1  ERROR: old: m/m.go: stale`, false},
		{[]mutant{ends}, `T1  ERROR: fails without a test: exits`, false},
		// The file is restored between mutants, also behind one that does not compile.
		{[]mutant{
			sum("nonsense", "\treturn a + b\n", "\treturn \"\"\n"), sum("subtracts", "\treturn a + b\n", "\treturn a - b\n"),
			sum("two", "\treturn 1\n", "\treturn 2\n"),
		}, `does not compile(.*\n)*T1  killed by(.*\n)*T1  SURVIVED`, false},
	} {
		var out strings.Builder
		err := kill(t.Context(), &out, dir, c.list)
		if !regexp.MustCompile(c.want).MatchString(out.String()) || (err == nil) != c.good {
			t.Errorf("kill(%v) = %v, want an error: %v; output %s, want %s", c.list, err, !c.good, &out, c.want)
		}
	}
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
		t.Errorf("the temporary directory holds %v, %v, want nothing", left, err)
	}
}

func TestKillNeedsTestsThatPass(t *testing.T) {
	dir := scratch(t)
	subtracts := sum("subtracts", "\treturn a + b\n", "\treturn a - b\n")
	elsewhere := subtracts
	elsewhere.test = command{"m", "./ends", "TestGone", false}
	var out strings.Builder
	err := kill(t.Context(), &out, dir, []mutant{elsewhere, subtracts})
	want := `m ./ends cannot tell: no test matches "TestGone"\nT1  ERROR: its tests cannot tell: subtracts\nT1  killed by`
	if err == nil || !regexp.MustCompile(want).MatchString(out.String()) {
		t.Errorf("kill without a test = %v, output %s, want an error and %s", err, &out, want)
	}
	if err := os.WriteFile(filepath.Join(dir, "m/m.go"), []byte(strings.Replace(files["m/m.go"], "+", "*", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	out.Reset()
	err = kill(t.Context(), &out, dir, []mutant{subtracts})
	want = `m \. cannot tell: it fails without a mutant: TestSum/of_three`
	if err == nil || !regexp.MustCompile(want).MatchString(out.String()) {
		t.Errorf("kill with a red test = %v, output %s, want an error and %s", err, &out, want)
	}
}

func TestCopyLeavesIgnoredFilesOut(t *testing.T) {
	tree, err := copyTree(context.Background(), scratch(t))
	if err != nil {
		t.Fatal(err)
	}
	defer tree.remove()
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(tree.dir, name))
		if name == "ignored" {
			if err == nil {
				t.Errorf("%s is copied", name)
			}
		} else if string(got) != want || err != nil {
			t.Errorf("%s = %q, %v, want %q", name, got, err, want)
		}
	}
}

func TestReadSeesATestThatDoesNotEnd(t *testing.T) {
	o, err := read(strings.NewReader(`{"Action":"run","Package":"m","Test":"TestX"}
{"Action":"output","Package":"m","Test":"TestX","Output":"panic: test timed out after 2m0s\n"}
{"Action":"fail","Package":"m","Test":"TestX","Elapsed":120}
{"Action":"fail","Package":"m","Elapsed":120}
`))
	if err != nil {
		t.Fatal(err)
	}
	if verdict, killed := o.verdict(mutant{what: "loops"}, ""); killed || verdict != "ERROR: TestX does not end: loops" {
		t.Errorf("verdict = %q, %v, want an error", verdict, killed)
	}
}
