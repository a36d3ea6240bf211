package jsonschema

import (
	"strconv"

	"github.com/cosim-go/cosim/topology/schema"
)

// An extent says whether a mapping has to be complete as it is written, or is merged
// with others, so that its required fields may stand elsewhere.
type extent string

const (
	whole extent = ""
	part  extent = "-part"
)

// section defines a section and gives the reference to it. A whole section that takes
// `use` is only a part where it does.
func (g *generator) section(s *schema.Section, e extent) string {
	return g.define(s.Name+string(e), func() object {
		if s.Use && e == whole {
			return object{
				{"description", s.Doc},
				{"if", object{{"required", []string{"use"}}, {"properties", object{{"use", object{{"type", "string"}}}}}}},
				{"then", ref(g.section(s, part))},
				{"else", ref(g.define(s.Name+"-alone", func() object { return g.mapping(s, whole) }))},
			}
		}
		return g.mapping(s, e)
	})
}

// mapping gives the schema of a section's own mapping, or of its short form.
func (g *generator) mapping(s *schema.Section, e extent) object {
	var properties object
	var required []string
	for _, f := range s.Fields {
		if f.Required && e == whole {
			required = append(required, f.Name)
		}
		properties = append(properties, member{f.Name, g.field(s, f, e)})
	}
	o := object{{"type", "object"}, {"properties", properties}, {"additionalProperties", false}}
	if required != nil {
		o = append(o, member{"required", required})
	}
	if rules := append(g.kindRules(s, e), roleRules(s)...); rules != nil {
		o = append(o, member{"allOf", rules})
	}
	if s.Short == nil {
		return append(object{{"description", s.Doc}}, o...)
	}
	short := g.scalar(s.Field(s.Short.Field).Type)
	return object{{"description", s.Doc}, {"anyOf", []object{short, o}}}
}

// field gives the schema of a field with its documentation.
func (g *generator) field(s *schema.Section, f schema.Field, e extent) object {
	o := shaped(f, g.single(f, e))
	if f.Type != schema.Enum && f.Values != nil {
		o = object{{"anyOf", []object{o, {{"enum", anys(f.Values)}}}}}
	}
	if !f.Required || e == part {
		o = nullable(o)
	}
	o = append(object{{"description", f.Doc}}, o...)
	if f.Default != "" {
		o = append(o, member{"default", written(f)})
	}
	if f.Name == "kind" {
		o = append(o, g.kindNames(s)...)
	}
	return o
}

// single gives the schema of one value of a field, whatever its shape.
func (g *generator) single(f schema.Field, e extent) object {
	switch f.Type {
	case schema.Mapping:
		return ref(g.section(schema.Lookup(f.Section), e))
	case schema.Template:
		return ref(g.define("template", g.template))
	case schema.Enum:
		return object{{"enum", anys(f.Values)}}
	case schema.Integer:
		if f.Min == f.Max && f.Min != 0 {
			return object{{"const", f.Min}}
		}
		if f.Min != 0 || f.Max != 0 {
			return append(g.scalar(f.Type), member{"minimum", f.Min}, member{"maximum", f.Max})
		}
	}
	return g.scalar(f.Type)
}

func shaped(f schema.Field, one object) object {
	switch f.Shape {
	case schema.Sequence:
		return object{{"type", "array"}, {"items", orAny(one)}}
	case schema.Map:
		o := object{{"type", "object"}}
		if f.Keys == schema.Identifier {
			o = append(o, member{"propertyNames", object{{"pattern", identifierPattern}}})
		}
		return append(o, member{"additionalProperties", orAny(one)})
	}
	return one
}

// orAny turns the empty schema into true, which accepts anything.
func orAny(o object) any {
	if len(o) == 0 {
		return true
	}
	return o
}

// template accepts what has fields of one of the sections that take `use`.
func (g *generator) template() object {
	var choices []object
	for _, s := range schema.Users() {
		choices = append(choices, ref(g.section(s, part)))
	}
	return object{{"description", "Any fields of one of: machine, vhost, device, disk."}, {"anyOf", choices}}
}

// roleRules keep the fields of one role from kinds of the other.
func roleRules(s *schema.Section) []object {
	var rules []object
	for _, role := range schema.Roles {
		var foreign object
		for _, f := range s.Fields {
			if f.Role != "" && f.Role != role {
				foreign = append(foreign, member{f.Name, false})
			}
		}
		if foreign != nil {
			rules = append(rules, when("role", role, object{{"properties", foreign}}))
		}
	}
	return rules
}

// when is a rule that holds where a field has a value.
func when(field string, value any, then object) object {
	return object{
		{"if", object{{"properties", object{{field, object{{"const", value}}}}}, {"required", []string{field}}}},
		{"then", then},
	}
}

// written gives the default of a field as JSON.
func written(f schema.Field) any {
	switch f.Type {
	case schema.Integer:
		if n, err := strconv.ParseInt(f.Default, 10, 64); err == nil {
			return n
		}
	case schema.Bool:
		return f.Default == "true"
	}
	return f.Default
}

func anys(values []string) []any {
	all := make([]any, len(values))
	for i, v := range values {
		all[i] = v
	}
	return all
}
