package doctest

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	validator "github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/cosim-go/cosim/adapters/builtin"
	"github.com/cosim-go/cosim/topology"
	"github.com/cosim-go/cosim/topology/jsonschema"
	"github.com/cosim-go/cosim/topology/schema"
)

// compile makes a validator of the schema, which checks the schema itself against the
// one of its draft.
func compile(t *testing.T, kinds []*topology.Kind) *validator.Schema {
	t.Helper()
	text, err := jsonschema.Generate(kinds)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := validator.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := validator.NewCompiler()
	if err := c.AddResource("topology.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("topology.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// validate holds a document against the schema as an editor would: as the JSON that it
// stands for.
func validate(t *testing.T, s *validator.Schema, text string) error {
	t.Helper()
	encoded, err := json.Marshal(jsonOf(t, text))
	if err != nil {
		t.Fatal(err)
	}
	instance, err := validator.UnmarshalJSON(bytes.NewReader(encoded))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(instance)
}

// Requirements: T2, T9.
func TestShippedDocumentsFitTheSchema(t *testing.T) {
	s := compile(t, builtin.Table().Kinds())
	n := 0
	for _, dir := range []string{"resources", "examples"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(name) != ".yaml" {
				return err
			}
			data, err := os.ReadFile(name)
			if err == nil {
				n++
				if err := validate(t, s, string(data)); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if n < 5 {
		t.Errorf("%d documents were found, too few to be all", n)
	}
}

// The documents in the reference fit, whole ones at least.
func TestReferenceExamplesFitTheSchema(t *testing.T) {
	s := compile(t, builtin.Table().Kinds())
	for _, h := range readPage(t, reference).headings {
		for _, b := range h.blocks {
			if b.language != "yaml" || !strings.HasPrefix(b.text, "version:") {
				continue
			}
			if err := validate(t, s, b.text); err != nil {
				t.Errorf("%q: %v", h.title, err)
			}
		}
	}
}

// What is wrong with a single value or mapping, the schema sees. What takes other files,
// templates, totals or YAML itself, it leaves to the loader, whose documents it accepts.
func TestSchemaSeesWhatBreaksTheStructure(t *testing.T) {
	seen := []string{
		schema.BadVersion, schema.BadImport, schema.UnknownField, schema.MissingField, schema.WrongType, schema.NullItem,
		schema.WrongRole, schema.NeedsQuotes, schema.BadIdentifier, schema.OutOfRange, schema.BadSize,
		schema.BadDuration, schema.UnknownValue, schema.BadPath, schema.DisksNotTaken,
		schema.UnknownParam, schema.UnknownRegion, schema.MissingRegion,
	}
	broken := []string{ // as YAML, or to this YAML parser
		schema.YAMLSyntax, schema.TabIndent, schema.DuplicateKey, schema.BadKey, schema.BadTag, schema.BadMerge, schema.AliasCycle,
		schema.TooDeep, schema.TooManyNodes, schema.FileEmpty,
	}
	s := compile(t, builtin.Table().Kinds())
	for _, e := range examples(t, readPage(t, diagnostics)) {
		if len(e.files) == 0 || slices.Contains(broken, e.code) {
			continue
		}
		err := validate(t, s, e.files[0].text)
		if want := slices.Contains(seen, e.code); (err != nil) != want {
			t.Errorf("example of %s: %v, want an error: %v", e.code, err, want)
		}
	}
}

// The schema accepts what the loader accepts, here the ways to write one thing.
func TestSchemaAcceptsEveryForm(t *testing.T) {
	s := compile(t, builtin.Table().Kinds())
	machine := func(rest string) string {
		return "version: 1\nmachines:\n  - id: m0\n    vhost: {kind: qemu-vhost, memory: 1G" + rest + "}\n"
	}
	device := func(rest string) string { return machine("") + "    devices:\n      - {" + rest + "}\n" }
	for _, text := range []string{
		"version: 1\n",
		"version: 0x1\nmachines:\n",
		"version: 1\nimports: []\ntemplates: {}\nkinds: {}\nmachines: []\n",
		"version: 1\nimports: [a.yaml, ../b.yaml#templates, /c.yaml]\n",
		machine(""),
		machine(", cpus: 0x10, timeout: 1m30s, args: [-smp, 4, true, 1.5], env: {A: 1, B: ''}"),
		machine(", image: disk.img, disks: "),
		machine(", image: {path: a..b/c.img, format: raw, recipe: {size: 0x1000}}"),
		machine(", boot: {kernel: vmlinuz, initrd: {path: /i, recipe: {program: make, inputs: [a]}}, append: 1}"),
		machine(", params: {machine: pc-q35-7.2, accel: tcg, reboot: true, cpu: }, program: "),
		machine(", disks: [{id: a, path: b, format: raw, mode: direct, bus: nvme, readonly: false, size: 8589934592}]"),
		device("kind: gem5-mi300x, regions: {vram: {size: 8GiB, align: 1g}}, params: {compute_units: 8, gem5_args: [-v, 1]}"),
		device("kind: qemu-device, id: no, count: 2, params: {device: nvme, properties: {a: {b: [1]}}, transport: vfio-user}"),
		device("kind: of-another-file, params: {a: [1, {b: c}]}, regions: {x: 4096}, disks: [{use: d}]"),
		device("use: t, regions: {vram: {align: 1G}}, params: {compute_units: 4}"),
		"version: 1\nmachines:\n  - {id: m, use: t, vhost: {boot: {append: x}, image: {format: raw}}}\n",
		"version: 1\nmachines:\n  - {use: t, vhost: {use: v}}\n",
		"version: 1\ntemplates: {v: {memory: 1G}, d: {regions: {vram: {align: 1G}}}, m: {vhost: {use: v}}, k: {bus: scsi}, e: {}}\n",
		"version: 1\nkinds:\n  k: {role: vhost, program: p, max_devices: 1024, ready: none, params: {a: {type: enum, values: [x], default: x}}}\n",
		"version: 1\nkinds:\n  k: {role: device, program: p, attach: vfio-user, channel: true, regions: {a: 1M}, ready: {exec: [a, 1]}, stop: {grace: 1s}}\n",
		"version: 1\nkinds:\n  k: {role: device, program: p, attach: [a, '{{fd}}'], params: {a: {type: strings, default: [a]}, b: {type: size, min: 1K, max: 4096}}}\n",
	} {
		if err := validate(t, s, text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// Every document that the loader's own tests have it accept fits the schema too.
func TestSchemaAcceptsWhatTheLoaderAccepts(t *testing.T) {
	s := compile(t, nil) // those tests have kinds of their own
	archives, err := filepath.Glob(filepath.Join(root, "topology/testdata/*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, name := range archives {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		read := filesRead(archive)
		for _, f := range archive.Files {
			if !slices.Contains(read, f.Name) {
				continue
			}
			n++
			if err := validate(t, s, string(f.Data)); err != nil {
				t.Errorf("%s in %s: %v", f.Name, filepath.Base(name), err)
			}
		}
	}
	if n < 20 {
		t.Errorf("%d documents were found, too few to be all", n)
	}
}

// filesRead lists the documents that the model of an archive is made of, none where the
// archive has no model.
func filesRead(archive *txtar.Archive) []string {
	i := slices.IndexFunc(archive.Files, func(f txtar.File) bool { return f.Name == "want/model" })
	if i < 0 {
		return nil
	}
	files := []string{"main.yaml"}
	first, _, _ := strings.Cut(string(archive.Files[i].Data), "\n")
	if list, ok := strings.CutPrefix(first, "files "); ok {
		files = strings.Fields(list)
	}
	for i := range files {
		files[i] = path.Clean(files[i])
	}
	return files
}
