package doctest

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cosim-go/cosim/adapters"
	"github.com/cosim-go/cosim/adapters/builtin"
	"github.com/cosim-go/cosim/runtime/plan"
	"github.com/cosim-go/cosim/topology"
	"github.com/cosim-go/cosim/topology/diag"
	"github.com/cosim-go/cosim/topology/schema"
)

const diagnostics = "errors.md"

var update = flag.Bool("update", false, "rewrite the output of the examples in docs/errors.md")

// A codeExample is what the page has for one code.
type codeExample struct {
	code   string
	files  []exampleFile
	shell  *block // commands and what they print; nil where the page explains why there is none
	reason string
}

type exampleFile struct{ name, text string }

func examples(t *testing.T, p *page) []codeExample {
	t.Helper()
	var all []codeExample
	for _, h := range p.headings {
		if h.level < 3 {
			continue
		}
		e := codeExample{code: h.title, reason: h.text}
		for _, b := range h.blocks {
			switch b.language {
			case "yaml":
				e.files = append(e.files, fileOf(b))
			case "console":
				e.shell = &b
			default:
				t.Errorf("%s: a block in %q is neither a document nor a console", h.title, b.language)
			}
		}
		all = append(all, e)
	}
	return all
}

// fileOf names a document by its first line, where that is a comment with nothing but a name.
func fileOf(b block) exampleFile {
	first, _, _ := strings.Cut(b.text, "\n")
	if name, ok := strings.CutPrefix(first, "# "); ok && strings.HasSuffix(name, ".yaml") && !strings.Contains(name, " ") {
		return exampleFile{name, b.text}
	}
	return exampleFile{"topology.yaml", b.text}
}

// Every code of the program is on the page, in the order of its tables, and no other is.
func TestDiagnosticsPageHasEveryCode(t *testing.T) {
	var want, got []string
	for _, c := range slices.Concat(schema.Codes, adapters.Codes) {
		want = append(want, c.Name)
	}
	want = append(want, plan.CodeMissing, plan.CodeConflict)
	for _, e := range examples(t, readPage(t, diagnostics)) {
		got = append(got, e.code)
	}
	slices.Sort(want)
	slices.Sort(got)
	for _, code := range want {
		if !slices.Contains(got, code) {
			t.Errorf("code %q is not on the page", code)
		}
	}
	for _, code := range got {
		if !slices.Contains(want, code) {
			t.Errorf("%q is on the page and is no code", code)
		}
	}
	if len(slices.Compact(got)) != len(got) {
		t.Errorf("a code is on the page twice: %q", got)
	}
}

// Every example prints what the page says, and its code is among the diagnostics.
func TestDiagnosticsExamples(t *testing.T) {
	p := readPage(t, diagnostics)
	bin := buildCosim(t)
	all := examples(t, p)
	printed := make([]string, len(all))
	t.Run("codes", func(t *testing.T) {
		for i, e := range all {
			if e.shell == nil {
				continue // TestCodesWithoutExample has these
			}
			t.Run(e.code, func(t *testing.T) {
				t.Parallel()
				printed[i] = runConsole(t, bin, e.files, e.shell.text)
				if printed[i] != e.shell.text && !*update {
					t.Errorf("the example prints\n%s\nthe page says\n%s", printed[i], e.shell.text)
				}
				checkCode(t, bin, e)
			})
		}
	})
	if *update {
		rewrite(t, p, all, printed)
	}
}

// rewrite puts what the examples print into the page.
func rewrite(t *testing.T, p *page, all []codeExample, printed []string) {
	t.Helper()
	var b strings.Builder
	at := 0
	for i, e := range all {
		if e.shell != nil && printed[i] != "" {
			b.WriteString(p.text[at:e.shell.start] + printed[i])
			at = e.shell.end
		}
	}
	b.WriteString(p.text[at:])
	if err := os.WriteFile(filepath.Join(root, "docs", diagnostics), []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
}

// checkCode asks for the same diagnostics as JSON, which has the codes.
func checkCode(t *testing.T, bin string, e codeExample) {
	t.Helper()
	if strings.Contains(e.shell.text, "cosim run") {
		return // a plan has no such form, and its messages are on the page
	}
	console := strings.ReplaceAll(e.shell.text, "cosim validate", "cosim validate --format json")
	console = strings.ReplaceAll(console, " 2>&1 | tail -n 1", "")
	_, printed, _ := strings.Cut(runConsole(t, bin, e.files, console), "$ cosim validate")
	_, printed, _ = strings.Cut(printed, "\n")
	var report struct {
		Diagnostics []struct{ Code string }
	}
	if err := json.Unmarshal([]byte(printed), &report); err != nil {
		t.Fatalf("%v in %.200s", err, printed)
	}
	var codes []string
	for _, d := range report.Diagnostics {
		codes = append(codes, d.Code)
	}
	if !slices.Contains(codes, e.code) {
		t.Errorf("the example's diagnostics have the codes %.200q, want %q", codes, e.code)
	}
}

// A code without an example is shown here instead, and the page says why.
func TestCodesWithoutExample(t *testing.T) {
	shown := map[string]func(t *testing.T) diag.List{
		schema.BadPageSize: badPageSize,
	}
	for _, e := range examples(t, readPage(t, diagnostics)) {
		show, ok := shown[e.code]
		if ok == (e.shell != nil) {
			t.Errorf("%s: example on the page %v, shown here %v", e.code, e.shell != nil, ok)
		}
		if ok && !slices.ContainsFunc(show(t), func(d diag.Diagnostic) bool { return d.Code == e.code }) {
			t.Errorf("%s: the code does not show", e.code)
		}
	}
}

func badPageSize(t *testing.T) diag.List {
	_, list := topology.Layout(loadText(t, "version: 1\n"), 3000)
	return list
}

func loadText(t *testing.T, text string) *topology.Model {
	t.Helper()
	model, list := topology.Load(textSource(text), "topology.yaml", &topology.Options{Kinds: builtin.Table().Kinds()})
	if err := list.Err(); err != nil {
		t.Fatal(err)
	}
	return model
}

// A textSource answers every path with the same document.
type textSource string

func (s textSource) Open(string) (topology.Document, error) {
	return topology.Document{Data: []byte(s)}, nil
}
