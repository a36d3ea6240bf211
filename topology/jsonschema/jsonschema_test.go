package jsonschema

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cosim-go/cosim/topology"
	"github.com/cosim-go/cosim/topology/layout"
	"github.com/cosim-go/cosim/topology/schema"
)

func kinds() []*topology.Kind {
	two := int64(2)
	return []*topology.Kind{
		{Name: "sim", Role: topology.RoleVhost, Params: []topology.Param{
			{Name: "accel", Type: topology.TypeEnum, Values: []string{"kvm", "tcg"}, Default: "tcg", Doc: "How to run."},
			{Name: "boost", Type: topology.TypeBool, Default: false},
		}},
		{Name: "gpu", Role: topology.RoleDevice, RegionsRequired: []string{"vram"}, RegionsOnly: true, Params: []topology.Param{
			{Name: "script", Type: topology.TypePath, Required: true},
			{Name: "units", Type: topology.TypeInt, Default: int64(40), Min: &two, MultipleOf: 4},
			{Name: "cache", Type: topology.TypeSize, Default: 64 * layout.MiB},
			{Name: "wait", Type: topology.TypeDuration, Default: 90 * time.Second},
			{Name: "flags", Type: topology.TypeStrings, Default: []string{"a"}},
			{Name: "properties", Type: topology.TypeMapping},
			{Name: "note", Type: topology.TypeString},
		}},
		{Name: "from-yaml", Role: topology.RoleDevice, Template: &topology.Template{}},
	}
}

func generate(t *testing.T, kinds []*topology.Kind) []byte {
	t.Helper()
	text, err := Generate(kinds)
	if err != nil {
		t.Fatalf("Generate = %v, want no error", err)
	}
	return text
}

func decode(t *testing.T, text []byte) map[string]any {
	t.Helper()
	var root map[string]any
	if err := json.Unmarshal(text, &root); err != nil {
		t.Fatalf("the schema is not JSON: %v", err)
	}
	return root
}

func TestGenerateGivesTheSameBytes(t *testing.T) {
	all := kinds()
	want := generate(t, all)
	slices.Reverse(all)
	for range 10 {
		if got := generate(t, all); !bytes.Equal(got, want) {
			t.Fatal("Generate gives other bytes for the same kinds in another order")
		}
	}
}

func TestGenerateLeavesKindsOfDocumentsAlone(t *testing.T) {
	all := kinds()
	if got, want := generate(t, all), generate(t, all[:2]); !bytes.Equal(got, want) {
		t.Error("a template kind changes the schema")
	}
}

func TestGenerateReportsADefaultWithoutForm(t *testing.T) {
	bad := []*topology.Kind{{Name: "bad", Role: topology.RoleVhost, Params: []topology.Param{{Name: "p", Default: func() {}}}}}
	if text, err := Generate(bad); err == nil || text != nil {
		t.Errorf("Generate = %d bytes, %v, want an error alone", len(text), err)
	}
}

// Requirement: T2, in editors.
func TestEverySectionHasExactlyItsFields(t *testing.T) {
	defs := decode(t, generate(t, kinds()))["$defs"].(map[string]any)
	for _, s := range schema.Sections {
		names := []string{s.Name}
		if s.Use {
			names = []string{s.Name + "-alone", s.Name + "-part"}
		}
		for _, name := range names {
			def, _ := defs[name].(map[string]any)
			if def == nil {
				t.Errorf("there is no definition of %s", name)
				continue
			}
			if choices, ok := def["anyOf"].([]any); ok { // a short form, then the mapping
				def = choices[1].(map[string]any)
			}
			if def["additionalProperties"] != false {
				t.Errorf("%s takes unknown fields", name)
			}
			if _, ok := def["required"]; ok != (requires(s) && !strings.HasSuffix(name, "-part")) {
				t.Errorf("%s: required = %v", name, def["required"])
			}
			checkProperties(t, name, s, def["properties"].(map[string]any))
		}
	}
}

func requires(s *schema.Section) bool {
	return slices.ContainsFunc(s.Fields, func(f schema.Field) bool { return f.Required })
}

func checkProperties(t *testing.T, name string, s *schema.Section, properties map[string]any) {
	t.Helper()
	if len(properties) != len(s.Fields) {
		t.Errorf("%s has %d properties, want %d", name, len(properties), len(s.Fields))
	}
	for _, f := range s.Fields {
		p, ok := properties[f.Name].(map[string]any)
		if !ok || p["description"] != f.Doc {
			t.Errorf("%s.%s = %v, want a description %q", name, f.Name, p, f.Doc)
		}
		if _, ok := p["default"]; ok != (f.Default != "") {
			t.Errorf("%s.%s: default in the schema %v, want %q", name, f.Name, p["default"], f.Default)
		}
	}
}

func TestFieldsKeepTheirOrder(t *testing.T) {
	text := string(generate(t, kinds()))
	_, vhost, _ := strings.Cut(text, `"vhost-alone"`)
	last := -1
	for _, f := range schema.Vhost.Fields {
		at := strings.Index(vhost, `"`+f.Name+`": {`)
		if at <= last {
			t.Errorf("field %q is not behind the one before it", f.Name)
		}
		last = at
	}
}

func TestReferencesAndDefinitionsAgree(t *testing.T) {
	root := decode(t, generate(t, kinds()))
	used := map[string]bool{}
	walk(root, func(key string, value any) {
		switch key {
		case "$ref":
			name, ok := strings.CutPrefix(value.(string), "#/$defs/")
			if _, there := root["$defs"].(map[string]any)[name]; !ok || !there {
				t.Errorf("reference to %v, which is not defined", value)
			}
			used[name] = true
		case "pattern":
			if _, err := regexp.Compile(value.(string)); err != nil {
				t.Errorf("pattern: %v", err)
			}
		}
	})
	for name := range root["$defs"].(map[string]any) {
		if !used[name] {
			t.Errorf("definition %q is used by nobody", name)
		}
	}
}

func walk(node any, visit func(key string, value any)) {
	switch n := node.(type) {
	case map[string]any:
		for k, v := range n {
			visit(k, v)
			walk(v, visit)
		}
	case []any:
		for _, v := range n {
			walk(v, visit)
		}
	}
}

func TestNullable(t *testing.T) {
	tests := []struct {
		o    object
		want string
	}{
		{nil, `{}`},
		{object{{"type", "string"}, {"minLength", 1}}, `{"type":["string","null"],"minLength":1}`},
		{object{{"type", []string{"string", "number"}}}, `{"type":["string","number","null"]}`},
		{object{{"enum", []any{"a"}}}, `{"enum":["a",null]}`},
		{object{{"$ref", "#/x"}}, `{"anyOf":[{"$ref":"#/x"},{"type":"null"}]}`},
		{object{{"anyOf", []object{{{"$ref", "#/x"}}}}}, `{"anyOf":[{"$ref":"#/x"},{"type":"null"}]}`},
	}
	for _, tt := range tests {
		before, _ := json.Marshal(tt.o)
		got, err := json.Marshal(nullable(tt.o))
		if err != nil || string(got) != tt.want {
			t.Errorf("nullable(%s) = %s, %v, want %s", before, got, err, tt.want)
		}
		if after, _ := json.Marshal(tt.o); !bytes.Equal(before, after) {
			t.Errorf("nullable changed its argument %s to %s", before, after)
		}
	}
}

func FuzzSizePattern(f *testing.F) {
	pattern := regexp.MustCompile(named(schema.Size).value("pattern").(string))
	for _, s := range []string{"32G", "0x10", "0X00", "1.5G", "32GB", "032G", "8192P", "1kib", "32G\n", "0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		_, err := layout.ParseSize(s)
		if err != nil && strings.Contains(err.Error(), "is larger than") {
			return // no pattern counts that far
		}
		if got, want := pattern.MatchString(s), err == nil; got != want {
			t.Fatalf("pattern of sizes matches %q: %v, ParseSize = %v", s, got, err)
		}
	})
}

func FuzzDurationPattern(f *testing.F) {
	pattern := regexp.MustCompile(durationPattern)
	long := regexp.MustCompile(`[0-9.]{7}`) // may be more hours than a Duration holds
	for _, s := range []string{"90s", "1m30s", "1.5h", ".5s", "1.s", "+1ms", "5µs", "90", "", "-1s", "1s\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, err := time.ParseDuration(s)
		if err == nil && d > 0 && !pattern.MatchString(s) {
			t.Fatalf("pattern of durations refuses %q", s)
		}
		if pattern.MatchString(s) && err != nil && len(s) < 16 && !long.MatchString(s) {
			t.Fatalf("pattern of durations matches %q: %v", s, err)
		}
	})
}
