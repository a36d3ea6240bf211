package topology

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/cosim-go/cosim/topology/diag"
	"github.com/cosim-go/cosim/topology/layout"
	"github.com/cosim-go/cosim/topology/schema"
)

var update = flag.Bool("update", false, "rewrite the want files in testdata")

const testPage = 4 * layout.KiB

// TestArchives loads main.yaml of every archive, with its directory resources as the
// library. What has to come out stands in want/diagnostics, want/model and want/layout;
// a file that is not there means that nothing has to. Lines of the archive's comment
// that start with "Requirements:" name the requirements it shows.
func TestArchives(t *testing.T) {
	for _, name := range archives(t) {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) { runArchive(t, name) })
	}
}

func archives(t testing.TB) []string {
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatalf("no archives in testdata: %v", err)
	}
	return names
}

func runArchive(t *testing.T, name string) {
	archive, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	files, want := split(archive)
	model, problems := Load(FromFS(files), "main.yaml", testOptions())
	got := map[string]string{}
	if model != nil {
		got["want/model"] = describe(model)
		l, more := Layout(model, testPage)
		problems = append(problems, more...)
		if l != nil && want["want/layout"] != "" {
			got["want/layout"] = describeLayout(l)
		}
	}
	got["want/diagnostics"] = text(t, problems)
	checkPositions(t, files, problems)
	if *update {
		rewrite(t, name, archive, got)
		return
	}
	for _, part := range []string{"want/diagnostics", "want/model", "want/layout"} {
		if got[part] != want[part] {
			t.Errorf("%s is\n%s\nwant\n%s", part, got[part], want[part])
		}
	}
}

// testOptions are those that archives are loaded with.
func testOptions() *Options {
	return &Options{Resources: []string{"resources"}, Kinds: builtinKinds()}
}

func split(archive *txtar.Archive) (fstest.MapFS, map[string]string) {
	files, want := fstest.MapFS{}, map[string]string{}
	for _, f := range archive.Files {
		if strings.HasPrefix(f.Name, "want/") {
			want[f.Name] = string(f.Data)
		} else {
			files[f.Name] = &fstest.MapFile{Data: unescape(f.Data)}
		}
	}
	return files, want
}

// unescape puts in what an archive cannot hold, or what nobody would see in it.
func unescape(data []byte) []byte {
	for _, c := range []struct{ name, char string }{
		{"<TAB>", "\t"}, {"<CR>", "\r"}, {"<NUL>", "\x00"}, {"<BOM>", "\ufeff"}, {"<FF>", "\xff"}, {"<LS>", "\u2028"}, {"<BEL>", "\x07"},
	} {
		data = bytes.ReplaceAll(data, []byte(c.name), []byte(c.char))
	}
	return data
}

func text(t testing.TB, problems diag.List) string {
	var b strings.Builder
	if err := diag.WriteText(&b, problems); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func rewrite(t *testing.T, name string, archive *txtar.Archive, got map[string]string) {
	archive.Files = slices.DeleteFunc(archive.Files, func(f txtar.File) bool { return strings.HasPrefix(f.Name, "want/") })
	for _, part := range []string{"want/diagnostics", "want/model", "want/layout"} {
		if got[part] != "" {
			archive.Files = append(archive.Files, txtar.File{Name: part, Data: []byte(got[part])})
		}
	}
	if err := os.WriteFile(name, txtar.Format(archive), 0o666); err != nil {
		t.Fatal(err)
	}
}

// checkPositions checks that every position lies inside its file, and that every code is
// one of the table.
func checkPositions(t testing.TB, files fstest.MapFS, problems diag.List) {
	known := map[string]bool{}
	for _, c := range schema.Codes {
		known[c.Name] = true
	}
	for _, d := range problems {
		if !known[d.Code] {
			t.Errorf("code %q of %q is not in the table", d.Code, d.Error())
		}
		checkPosition(t, files, d.Pos)
		if !d.End.IsZero() {
			checkPosition(t, files, d.End)
			if d.End.Compare(d.Pos) < 0 {
				t.Errorf("%q ends at %v, before it starts", d.Error(), d.End)
			}
		}
		for _, r := range d.Related {
			checkPosition(t, files, r.Pos)
		}
	}
}

func checkPosition(t testing.TB, files fstest.MapFS, pos diag.Pos) {
	file, ok := files[pos.File]
	if !ok || pos.Line == 0 {
		return
	}
	data := strings.TrimPrefix(string(file.Data), "\ufeff")
	lines := strings.Split(data, "\n")
	if pos.Line < 1 || pos.Line > len(lines) {
		t.Errorf("%v lies outside its file of %d lines", pos, len(lines))
		return
	}
	if n := len([]rune(lines[pos.Line-1])); pos.Column < 1 || pos.Column > n+1 {
		t.Errorf("%v lies outside its line of %d characters", pos, n)
	}
}

// TestEveryCodeIsShown checks that each code of the loader and of the layout comes out of
// some archive.
func TestEveryCodeIsShown(t *testing.T) {
	shown := map[string]bool{}
	for _, name := range archives(t) {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files, _ := split(archive)
		model, problems := Load(FromFS(files), "main.yaml", testOptions())
		if model != nil {
			_, more := Layout(model, testPage)
			problems = append(problems, more...)
		}
		for _, d := range problems {
			shown[d.Code] = true
		}
	}
	elsewhere := []string{
		schema.FileNotFound, schema.FileTooLarge, schema.TooManyNodes, schema.TooMany, schema.BadPageSize,
	}
	for _, c := range schema.Codes {
		if shown[c.Name] == slices.Contains(elsewhere, c.Name) {
			t.Errorf("code %q: in an archive = %v, listed as shown by a test of its own = %v", c.Name, shown[c.Name], !shown[c.Name])
		}
	}
}
