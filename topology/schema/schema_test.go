package schema

import (
	"slices"
	"strings"
	"testing"
)

func TestTablesAreConsistent(t *testing.T) {
	for _, s := range Sections {
		if Lookup(s.Name) != s {
			t.Errorf("Lookup(%q) does not find its section", s.Name)
		}
		if s.Short != nil && s.Field(s.Short.Field) == nil {
			t.Errorf("%s: short form is of %q, which is no field", s.Name, s.Short.Field)
		}
		if s.Use != (s.Field("use") != nil) {
			t.Errorf("%s: Use = %v, but the field says otherwise", s.Name, s.Use)
		}
		for i, f := range s.Fields {
			if s.Index(f.Name) != i {
				t.Errorf("%s.%s: Index = %d, want %d: a name appears twice", s.Name, f.Name, s.Index(f.Name), i)
			}
			checkField(t, s.Name+"."+f.Name, f)
		}
	}
}

func checkField(t *testing.T, name string, f Field) {
	if (f.Type == Mapping) != (f.Section != "") {
		t.Errorf("%s: type %s with section %q", name, f.Type, f.Section)
	}
	if f.Section != "" && Lookup(f.Section) == nil {
		t.Errorf("%s: section %q is not in the table", name, f.Section)
	}
	if f.Type == Enum && len(f.Values) == 0 {
		t.Errorf("%s: enum without values", name)
	}
	if f.Type == Enum && f.Default != "" && !slices.Contains(f.Values, f.Default) {
		t.Errorf("%s: default %q is not one of %v", name, f.Default, f.Values)
	}
	if (f.Shape == Map) != (f.Keys != "") {
		t.Errorf("%s: shape %q with keys %q", name, f.Shape, f.Keys)
	}
	if f.Required && f.Default != "" {
		t.Errorf("%s: required and with a default", name)
	}
	if !strings.HasSuffix(f.Doc, ".") || strings.Contains(f.Doc, "\n") {
		t.Errorf("%s: doc %q is not one sentence", name, f.Doc)
	}
}

func TestCodesAreListedOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range Codes {
		if seen[c.Name] {
			t.Errorf("code %q is listed twice", c.Name)
		}
		seen[c.Name] = true
		if !strings.HasSuffix(c.Doc, ".") {
			t.Errorf("code %q: doc %q is not a sentence", c.Name, c.Doc)
		}
	}
}
