package relaytest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// vectorFiles are the golden data of this module.
var vectorFiles = []string{
	"../frame/testdata/frames.json",
	"../flow/testdata/checksums.json",
	"../flow/testdata/reorder.json",
	"../caps/testdata/urns.json",
}

func readVectors(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Requirements: R1, R2
func TestVectors(t *testing.T) {
	sections := map[string]int{}
	for _, path := range vectorFiles {
		report, err := CheckVectors(filepath.Base(path), readVectors(t, path))
		if err != nil {
			t.Fatal(err)
		}
		for _, failure := range report.Failures {
			t.Error(failure)
		}
		for _, s := range report.Sections {
			sections[s.Name] += s.Passed
			if s.Run != s.Passed {
				t.Errorf("%s: %s: %d of %d passed", path, s.Name, s.Passed, s.Run)
			}
		}
	}
	for name := range vectorSections {
		if sections[name] == 0 {
			t.Errorf("no case of section %s passed", name)
		}
	}
}

// withMeta returns a file with a frame that has one value in its meta.
func withMeta(value string) string {
	return `{"valid": [{"name": "n", "hex": "a40004010702010300", "canonical": true,
		"fields": {"version": 4, "type": 7, "type_name": "heartbeat", "id": {"uint": 1}, "seq": 0, "meta": {"m": ` + value + `}}}]}`
}

func TestCheckVectorsRefusesFiles(t *testing.T) {
	million := strings.Repeat("9", 1_000_000)
	for _, test := range []struct{ name, file, want string }{
		{"without sections", `{"about": "x"}`, "f: no cases"},
		{"that are no object", `[1]`, "f: no object with sections"},
		{"with a section that is empty", `{"valid": []}`, "f: valid: no cases"},
		{"with a section that is no list", `{"cases": {"hex": ""}}`, "f: cases: no cases"},
		{"with a case that is no object", `{"cases": [1]}`, "f: cases: case 0: no object"},
		{"of things that are not known", `{"routes": [{"route": true}]}`, `f: unknown section "routes"`},
		{"of another protocol", `{"protocol_version": 5, "cases": [{"hex": "", "checksum": 14695981039346656037}]}`,
			"f: protocol_version = 4, want 5"},
		{"that state too much of a case", `{"cases": [{"hex": "", "checksum": 14695981039346656037, "sum": 1}]}`,
			`f: cases: case 0: unknown key "sum"`},
		{"that state too little of a case", `{"cases": [{"hex": ""}]}`, `f: cases: case 0: no key "checksum"`},
		{"with another kind than is due", `{"cases": [{"hex": "", "checksum": "1"}]}`,
			`f: cases: case 0: checksum is no unsigned number of 64 bits: "1"`},
		{"that differ in one field", `{"valid": [{"name": "n", "hex": "a40004010702010300", "canonical": true,
			"fields": {"version": 4, "type": 7, "type_name": "heartbeat", "id": {"uint": 1}, "seq": 4}}]}`,
			"f: valid: n: field seq = 0, want 4"},
		{"with an integer of a million digits", withMeta(`{"int": ` + million + `}`),
			`f: valid: n: field meta: "m": no value of kind int: ` + million[:120] + "…"},
		{"with a float of a million digits", withMeta(`{"float": ` + million + `}`),
			`f: valid: n: field meta: "m": no value of kind float: ` + million[:120] + "…"},
	} {
		t.Run(test.name, func(t *testing.T) {
			report, err := CheckVectors("f", []byte(test.file))
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(report.Failures, "\n"); got != test.want {
				t.Errorf("Failures = %s, want %s", got, test.want)
			}
			if report.OK() {
				t.Error("OK = true")
			}
		})
	}
}

func TestCheckVectorsCannotRead(t *testing.T) {
	for _, test := range []struct{ name, file, want string }{
		{"nothing", "", "f: no JSON: nothing but the end of the file"},
		{"half an object", `{"cases": [`, "f: offset 11: unexpected EOF"},
		{"more than one value", `{} {}`, "f: offset 4: more behind the JSON value"},
		{"no JSON", `frames`, "f: offset 0: invalid character"},
		{"a name that comes twice", `{"cases": 1, "cases": 2}`, `f: offset 20: name "cases" occurs twice`},
		{"values without end", strings.Repeat("[", 2000), "too many values within each other"},
	} {
		t.Run(test.name, func(t *testing.T) {
			report, err := CheckVectors("f", []byte(test.file))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("CheckVectors = %v, %v, want the error %s", report, err, test.want)
			}
		})
	}
}
