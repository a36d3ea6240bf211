package doctest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cosim-go/cosim/adapters/builtin"
	"github.com/cosim-go/cosim/topology"
	"github.com/cosim-go/cosim/topology/schema"
)

const reference = "topology.md"

// Requirement: T10.
func TestReferenceHasEveryFieldOfTheLoader(t *testing.T) {
	p := readPage(t, reference)
	for _, s := range schema.Sections {
		rows := p.under(t, s.Name).rows(t, "Field", "Type", "Default", "Meaning")
		if len(rows) != len(s.Fields) {
			t.Errorf("%s has %d rows, want %d", s.Name, len(rows), len(s.Fields))
			continue
		}
		for i, f := range s.Fields {
			want := []string{"`" + f.Name + "`", fieldType(f), fieldDefault(f)}
			if got := rows[i][:3]; !slices.Equal(got, want) {
				t.Errorf("%s: row %q, want %q", s.Name, got, want)
			}
			if f.Role != "" && !strings.HasPrefix(rows[i][3], "Role `"+f.Role+"` alone: ") {
				t.Errorf("%s.%s does not say that it is of role %s alone", s.Name, f.Name, f.Role)
			}
		}
	}
	for _, h := range p.headings {
		if len(h.table) > 0 && h.table[0][0] == "Field" && schema.Lookup(h.title) == nil {
			t.Errorf("%q has a table of fields and is no section", h.title)
		}
	}
}

func fieldType(f schema.Field) string {
	one := string(f.Type)
	switch f.Type {
	case schema.Mapping:
		one = fmt.Sprintf("[%s](#%s)", f.Section, f.Section)
	case schema.Template:
		one = "[template](#templates)"
	case schema.Placeholder:
		one = "text with [placeholders](#placeholders)"
	case schema.Regexp:
		one = "regular expression"
	case schema.Enum:
		one = words(f.Values)
	case schema.Integer:
		if f.Min == f.Max {
			one = fmt.Sprintf("integer %d", f.Min)
		} else {
			one = fmt.Sprintf("integer, %d to %d", f.Min, f.Max)
		}
	case schema.Duration:
		one = fmt.Sprintf("duration, %s to %s", short(f.Min), short(f.Max))
	}
	if f.Shape == schema.Sequence {
		one = "sequence of " + one
	} else if f.Shape == schema.Map {
		one = "mapping of " + one
	}
	if f.Type != schema.Enum && f.Values != nil {
		one += " or " + words(f.Values)
	}
	return one
}

func fieldDefault(f schema.Field) string {
	switch {
	case f.Required:
		return "**required**"
	case f.Default != "":
		return "`" + f.Default + "`"
	}
	return ""
}

func words(values []string) string { return "`" + strings.Join(values, "`, `") + "`" }

// short writes nanoseconds without the zeros that Go adds: 24h, not 24h0m0s.
func short(nanoseconds int64) string {
	return strings.TrimSuffix(strings.TrimSuffix(time.Duration(nanoseconds).String(), "0s"), "0m")
}

// Requirement: T10.
func TestReferenceHasTheBuiltInKinds(t *testing.T) {
	p := readPage(t, reference)
	kinds := builtin.Table().Kinds()
	for _, k := range kinds {
		h := p.under(t, k.Name)
		if summary := kindSummary(k); !strings.Contains(h.text, summary) {
			t.Errorf("%s does not say %q", k.Name, summary)
		}
		rows := h.rows(t, "Param", "Type", "Default", "Meaning")
		if len(rows) != len(k.Params) {
			t.Errorf("%s has %d rows, want %d", k.Name, len(rows), len(k.Params))
			continue
		}
		for i, param := range k.Params {
			want := []string{"`" + param.Name + "`", paramType(param), paramDefault(param)}
			if got := rows[i][:3]; !slices.Equal(got, want) {
				t.Errorf("%s: row %q, want %q", k.Name, got, want)
			}
		}
	}
	for _, h := range p.headings {
		known := func(k *topology.Kind) bool { return k.Name == h.title }
		if len(h.table) > 0 && h.table[0][0] == "Param" && !slices.ContainsFunc(kinds, known) {
			t.Errorf("%q has a table of params and is no built-in kind", h.title)
		}
	}
}

func kindSummary(k *topology.Kind) string {
	s := fmt.Sprintf("Role `%s`; program `%s`; ", k.Role, k.Program.Name)
	if k.Role == topology.RoleVhost {
		s += fmt.Sprintf("at most %d devices; ", k.MaxDevices)
	}
	if k.TakesDisks {
		s += "takes disks"
	} else {
		s += "takes no disks"
	}
	if k.RegionsRequired != nil {
		s += fmt.Sprintf("; region %s required", words(k.RegionsRequired))
	}
	if k.RegionsOnly {
		s += ", no other"
	}
	return s + "."
}

func paramType(p topology.Param) string {
	s := string(p.Type)
	if p.Type == topology.TypeEnum {
		s = words(p.Values)
	}
	if p.Min != nil {
		s += fmt.Sprintf(", at least %d", *p.Min)
	}
	if p.Max != nil {
		s += fmt.Sprintf(", at most %d", *p.Max)
	}
	if p.MultipleOf != 0 {
		s += fmt.Sprintf(", a multiple of %d", p.MultipleOf)
	}
	return s
}

func paramDefault(p topology.Param) string {
	switch {
	case p.Required:
		return "**required**"
	case p.Default != nil:
		return fmt.Sprintf("`%v`", p.Default)
	}
	return ""
}

func TestReferenceHasTheLimits(t *testing.T) {
	text := readPage(t, reference).text
	for _, want := range []string{
		fmt.Sprintf("at most %d MiB long", schema.MaxFile>>20),
		fmt.Sprintf("nest at most %d levels deep", schema.MaxNesting),
		fmt.Sprintf("read up to %d values in one load", schema.MaxNodes),
		fmt.Sprintf("| identifier | 1 to %d ASCII letters", schema.MaxIdentifier),
		fmt.Sprintf("at most %d machines", schema.MaxMachines),
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s does not say %q", reference, want)
		}
	}
	for _, name := range append(slices.Clone(schema.ReservedMachines), schema.ReservedDevices...) {
		if !strings.Contains(text, "`"+name+"`") {
			t.Errorf("%s does not name the reserved identifier %q", reference, name)
		}
	}
}

func TestLinksLeadSomewhere(t *testing.T) {
	for _, name := range []string{reference, diagnostics} {
		p := readPage(t, name)
		for _, link := range strings.Split(p.text, "](")[1:] {
			target, _, _ := strings.Cut(link, ")")
			file, anchor, _ := strings.Cut(target, "#")
			if strings.Contains(file, "://") {
				continue
			}
			other := p
			if file != "" {
				other = readPage(t, file)
			}
			if anchor != "" && !slices.ContainsFunc(other.headings, func(h *heading) bool { return anchorOf(h.title) == anchor }) {
				t.Errorf("%s: link to %q leads nowhere", name, target)
			}
		}
	}
}

func anchorOf(title string) string { return strings.ReplaceAll(strings.ToLower(title), " ", "-") }
