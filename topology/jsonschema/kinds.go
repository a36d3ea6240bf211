package jsonschema

import (
	"time"

	"github.com/cosim-go/cosim/topology"
	"github.com/cosim-go/cosim/topology/layout"
	"github.com/cosim-go/cosim/topology/schema"
)

// kindNames offers the built-in kinds of a section's role and refuses those of the
// other. Other names may be kinds that a document defines.
func (g *generator) kindNames(s *schema.Section) object {
	var fitting, other []any
	for _, k := range g.kinds {
		if string(k.Role) == s.Name {
			fitting = append(fitting, k.Name)
		} else {
			other = append(other, k.Name)
		}
	}
	var o object
	if fitting != nil {
		o = append(o, member{"examples", fitting})
	}
	if other != nil {
		o = append(o, member{"not", object{{"enum", other}}})
	}
	return o
}

// kindRules hold an entry that names a built-in kind to what that kind takes.
func (g *generator) kindRules(s *schema.Section, e extent) []object {
	var rules []object
	for _, k := range g.kinds {
		if string(k.Role) == s.Name {
			rules = append(rules, when("kind", k.Name, g.kindRule(k, e)))
		}
	}
	return rules
}

func (g *generator) kindRule(k *topology.Kind, e extent) object {
	var required []string
	params := g.params(k, e)
	if params.value("required") != nil {
		required = append(required, "params")
	} else {
		params = nullable(params)
	}
	properties := object{{"params", params}}
	if k.Role == topology.RoleDevice {
		if !k.TakesDisks {
			properties = append(properties, member{"disks", object{{"maxItems", 0}}})
		}
		regions := regionRule(k, e)
		if regions.value("required") != nil {
			required = append(required, "regions")
		}
		if regions != nil {
			properties = append(properties, member{"regions", regions})
		}
	}
	o := object{{"properties", properties}}
	if required != nil {
		o = append(o, member{"required", required})
	}
	return o
}

func regionRule(k *topology.Kind, e extent) object {
	var o object
	if k.RegionsOnly {
		o = append(o, member{"propertyNames", object{{"enum", anys(k.RegionsRequired)}}})
	}
	if len(k.RegionsRequired) > 0 && e == whole {
		o = append(o, member{"required", k.RegionsRequired})
	}
	return o
}

func (g *generator) params(k *topology.Kind, e extent) object {
	properties := object{}
	var required []string
	for _, p := range k.Params {
		if p.Required && e == whole {
			required = append(required, p.Name)
		}
		properties = append(properties, member{p.Name, g.param(p, e)})
	}
	o := object{{"type", "object"}, {"properties", properties}, {"additionalProperties", false}}
	if required != nil {
		o = append(o, member{"required", required})
	}
	return o
}

func (g *generator) param(p topology.Param, e extent) object {
	o := g.paramType(p)
	if !p.Required || e == part {
		o = nullable(o)
	}
	if p.Doc != "" {
		o = append(object{{"description", p.Doc}}, o...)
	}
	switch d := p.Default.(type) {
	case nil:
	case layout.Size:
		o = append(o, member{"default", d.String()})
	case time.Duration:
		o = append(o, member{"default", d.String()})
	default:
		o = append(o, member{"default", d})
	}
	return o
}

func (g *generator) paramType(p topology.Param) object {
	switch p.Type {
	case topology.TypeInt:
		return limited(p, g.scalar(schema.Integer))
	case topology.TypeSize:
		return limited(p, g.scalar(schema.Size))
	case topology.TypeDuration:
		return g.scalar(schema.Duration)
	case topology.TypeBool:
		return g.scalar(schema.Bool)
	case topology.TypeEnum:
		return object{{"enum", anys(p.Values)}}
	case topology.TypePath:
		return g.scalar(schema.Path)
	case topology.TypeStrings:
		return object{{"type", "array"}, {"items", g.scalar(schema.Text)}}
	case topology.TypeMapping:
		return object{{"type", "object"}}
	}
	return g.scalar(schema.String)
}

// limited adds limits, which hold for a size that is written as a number.
func limited(p topology.Param, o object) object {
	if p.Min != nil {
		o = append(o, member{"minimum", *p.Min})
	}
	if p.Max != nil {
		o = append(o, member{"maximum", *p.Max})
	}
	if p.MultipleOf > 0 {
		o = append(o, member{"multipleOf", p.MultipleOf})
	}
	return o
}
