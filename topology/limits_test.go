package topology

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf16"

	"github.com/cosim-go/cosim/topology/schema"
)

// bombs are short documents that stand for very long ones.
func bombs() map[string]string {
	laughs := "version: 1\nmachines:\n  - id: m\n    vhost: {kind: qemu-vhost, memory: 1M}\n    devices:\n      - kind: qemu-device\n        params:\n          device: x\n          properties:\n            a: &a [x, x, x, x, x, x, x, x, x, x]\n"
	merges := "version: 1\ntemplates:\n  t0: &t0 {a: 1}\n"
	chain := "version: 1\ntemplates:\n  t0: {cpus: 1}\n"
	for i := range 9 {
		laughs += fmt.Sprintf("            %c: &%c [*%c, *%c, *%c, *%c, *%c, *%c, *%c, *%c, *%c, *%c]\n", 'b'+i, 'b'+i, 'a'+i, 'a'+i, 'a'+i, 'a'+i, 'a'+i, 'a'+i, 'a'+i, 'a'+i, 'a'+i, 'a'+i)
	}
	for i := range 20 {
		merges += fmt.Sprintf("  t%d: &t%d {<<: [%s], b%d: 1}\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*t%d, ", i), 10), i)
	}
	for i := range 5000 {
		chain += fmt.Sprintf("  t%d: {use: t%d, env: {V%d: x}}\n", i+1, i, i)
	}
	chain += "machines: [{id: m, vhost: {use: t5000}}]\n"
	args := "version: 1\ntemplates: {d: {kind: qemu-device, params: {device: x}, env: &e {" + numbered(4000, "V%d: x, ") + "}}}\nmachines:\n" +
		numbered(3000, "  - {id: m%d, vhost: {kind: qemu-vhost, memory: 1M}, devices: [{use: d, env: {A: x}}]}\n")
	return map[string]string{"a billion laughs": laughs, "merge keys": merges, "a chain of templates": chain, "merged mappings": args}
}

// TestBombs shows that a short document cannot multiply into endless work.
func TestBombs(t *testing.T) {
	for name, text := range bombs() {
		t.Run(name, func(t *testing.T) {
			if _, codes := loadText(text); len(codes) != 1 || codes[0] != schema.TooManyNodes {
				t.Errorf("reports %v, want %s alone", codes, schema.TooManyNodes)
			}
		})
	}
}

// TestLongChain shows that a long chain of templates which stays small is no bomb.
func TestLongChain(t *testing.T) {
	var text strings.Builder
	text.WriteString("version: 1\nmachines: [{id: m, vhost: {use: t10000}}]\ntemplates:\n  t0: {kind: qemu-vhost, memory: 1M}\n")
	for i := range 10000 {
		fmt.Fprintf(&text, "  t%d: {use: t%d}\n  u%d: {cpus: 1}\n", i+1, i, i)
	}
	mustLoad(t, text.String())
}

func TestTooManyProblems(t *testing.T) {
	_, codes := loadText("version: 1\nmachines:\n" + strings.Repeat("- ~\n", 100_100))
	if n := len(codes); n != 100_001 || !contains(codes, schema.TooMany) {
		t.Errorf("%d problems are kept, and %q is among them: %v", n, schema.TooMany, contains(codes, schema.TooMany))
	}
}

func contains(codes []string, code string) bool {
	for _, c := range codes {
		if c == code {
			return true
		}
	}
	return false
}

func TestFileTooLarge(t *testing.T) {
	if _, codes := loadText("version: 1\n" + strings.Repeat("#\n", schema.MaxFile/2)); len(codes) != 1 || codes[0] != schema.FileTooLarge {
		t.Errorf("reports %v, want %s", codes, schema.FileTooLarge)
	}
}

func TestUTF16(t *testing.T) {
	units := utf16.Encode([]rune("\ufeffversion: 1\n"))
	var little, big, bare []byte
	for i, u := range units {
		little, big = append(little, byte(u), byte(u>>8)), append(big, byte(u>>8), byte(u))
		if i > 0 {
			bare = append(bare, byte(u), byte(u>>8))
		}
	}
	for _, data := range [][]byte{little, big, bare} {
		if _, codes := loadText(string(data)); len(codes) != 1 || codes[0] != schema.Encoding {
			t.Errorf("%q reports %v, want %s", data, codes, schema.Encoding)
		}
	}
}

// A failing source has files that cannot be read.
type failing struct{ err error }

func (s failing) Open(name string) (Document, error) {
	if name == "main.yaml" {
		return Document{Data: []byte("version: 1\nimports: [bad.yaml]\n")}, nil
	}
	return Document{}, s.err
}

func TestUnreadableFiles(t *testing.T) {
	denied := &fs.PathError{Op: "open", Path: "bad.yaml", Err: fs.ErrPermission}
	_, problems := Load(failing{denied}, "other.yaml", nil)
	if got := text(t, problems); got != "other.yaml: cannot be read: permission denied\n" {
		t.Errorf("a top-level document that cannot be read: %s", got)
	}
	_, problems = Load(failing{denied}, "main.yaml", &Options{Resources: []string{"resources"}})
	if got := text(t, problems); got != "main.yaml:2:11: import \"bad.yaml\": bad.yaml cannot be read: permission denied\n" {
		t.Errorf("an import that cannot be read: %s", got)
	}
	_, problems = Load(FromFS(fstest.MapFS{}), "main.yaml", nil)
	if got := text(t, problems); got != "main.yaml: no such file\n" || !errors.Is(problems.Err(), fs.ErrNotExist) {
		t.Errorf("a top-level document that does not exist: %s", got)
	}
}
