package topology

import (
	"io/fs"
	"slices"
	"testing"
	"testing/fstest"
)

// A tree is a source of files with links: a path, which is not cleaned, is answered with
// the file that it leads to.
type tree struct {
	files  map[string]string
	links  map[string]string // path to canonical name
	opened []string
}

func (s *tree) Open(name string) (Document, error) {
	s.opened = append(s.opened, name)
	canonical := name
	if to, ok := s.links[name]; ok {
		canonical = to
	}
	text, ok := s.files[canonical]
	if !ok {
		return Document{}, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return Document{Data: []byte(text), Canonical: canonical}, nil
}

const library = "version: 1\ntemplates: {v: {kind: qemu-vhost, memory: 1M}}\n"

// TestLoadedOnceThroughLinks shows that a file reached by several names is one file, and
// that it is called by the first.
//
// Requirements: T8
func TestLoadedOnceThroughLinks(t *testing.T) {
	src := &tree{
		files: map[string]string{
			"/w/main.yaml": "version: 1\nimports: [a.yaml, link.yaml, /lib/v.yaml, sub/../link.yaml]\nmachines: [{id: m, vhost: {use: v}}]\n",
			"/w/a.yaml":    "version: 1\nimports: [link.yaml, main-link.yaml]\n",
			"/lib/v.yaml":  library,
		},
		links: map[string]string{"/w/link.yaml": "/lib/v.yaml", "/w/sub/../link.yaml": "/lib/v.yaml", "/w/main-link.yaml": "/w/main.yaml"},
	}
	_, problems := Load(src, "/w/main.yaml", testOptions())
	const want = "/w/main.yaml:2:11: import cycle: /w/main.yaml → /w/a.yaml → /w/main.yaml\n\t/w/a.yaml:2:22: imported here\n"
	if got := text(t, problems); got != want {
		t.Errorf("a cycle through a link is reported as\n%swant\n%s", got, want)
	}
	src.files["/w/a.yaml"] = "version: 1\nimports: [link.yaml]\n"
	model, problems := Load(src, "/w/main.yaml", testOptions())
	if problems != nil {
		t.Fatalf("refused: %v", problems)
	}
	if want := []string{"/w/main.yaml", "/w/a.yaml", "/w/link.yaml"}; !slices.Equal(model.Files, want) {
		t.Errorf("files are %q, want %q", model.Files, want)
	}
}

// TestImportOrder shows where an import is looked for, in which order.
//
// Requirements: T4
func TestImportOrder(t *testing.T) {
	src := &tree{files: map[string]string{
		"top/main.yaml":     "version: 1\nimports: [x/a.yaml, b.yaml, c.yaml, ../d.yaml, ./e.yaml, /abs.yaml]\n",
		"top/x/a.yaml":      "version: 1\nimports: [f.yaml]\n",
		"user/x/a.yaml":     "not read",
		"user/b.yaml":       "version: 1\n",
		"<builtin>/b.yaml":  "version: 1\n",
		"<builtin>/c.yaml":  "version: 1\nimports: [b.yaml, g.yaml]\n",
		"top/../d.yaml":     "version: 1\n",
		"top/e.yaml":        "version: 1\n",
		"/abs.yaml":         "version: 1\n",
		"top/x/f.yaml":      "version: 1\n",
		"top/f.yaml":        "not read",
		"top/b.yaml/README": "",
	}}
	opts := testOptions()
	opts.Resources = []string{"user", "<builtin>/"}
	_, problems := Load(src, "top/main.yaml", opts)
	const want = "<builtin>/c.yaml:2:19: import \"g.yaml\" is not found\n\thint: looked for <builtin>/g.yaml, user/g.yaml\n"
	if got := text(t, problems); got != want {
		t.Errorf("problems are\n%swant\n%s", got, want)
	}
	wantOpened := []string{
		"top/main.yaml", "top/x/a.yaml", "top/x/f.yaml", "top/b.yaml", "user/b.yaml", "top/c.yaml", "user/c.yaml", "<builtin>/c.yaml",
		"<builtin>/b.yaml", "<builtin>/g.yaml", "user/g.yaml", "top/../d.yaml", "top/e.yaml", "/abs.yaml",
	}
	if !slices.Equal(src.opened, wantOpened) {
		t.Errorf("opened %q\nwant   %q", src.opened, wantOpened)
	}
}

// TestFromFSHasNoParent shows that a file system without a parent directory knows none.
func TestFromFSHasNoParent(t *testing.T) {
	for _, name := range []string{"../main.yaml", "/main.yaml", "a/../../main.yaml"} {
		if _, err := FromFS(fstest.MapFS{"main.yaml": {}}).Open(name); err == nil {
			t.Errorf("Open(%q) finds a file", name)
		}
	}
	if d, err := FromFS(fstest.MapFS{"main.yaml": {}}).Open("a/../main.yaml"); err != nil || d.Canonical != "main.yaml" {
		t.Errorf("Open(a/../main.yaml) = %q, %v, want main.yaml", d.Canonical, err)
	}
}
