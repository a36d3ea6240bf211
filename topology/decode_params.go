package topology

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/cosim-go/cosim/topology/diag"
	"github.com/cosim-go/cosim/topology/internal/decode"
	"github.com/cosim-go/cosim/topology/internal/source"
	"github.com/cosim-go/cosim/topology/layout"
	"github.com/cosim-go/cosim/topology/schema"
)

// paramDeclarations reads the `params` of a kind.
func (d *decoder) paramDeclarations(v source.Value) ([]Param, bool) {
	params, good := make([]Param, 0, v.Len()), true
	ok := d.Fields(v, "mapping", func(e source.Entry) {
		p := Param{Pos: e.Pos()}
		name, ok := d.Key(e)
		p.Name = name
		good = all(good, ok, d.paramDeclaration(e.Value, &p))
		params = append(params, p)
	})
	return params, ok && good
}

func (d *decoder) paramDeclaration(v source.Value, p *Param) bool {
	r, ok := d.Section(v, schema.Param)
	defer d.Done(r)
	var kind string
	if !ok || !field(d, r, "type", &kind, func(v source.Value) (string, bool) { return d.Enum(v, schema.ParamTypes) }) {
		return false
	}
	p.Type = ParamType(kind)
	p.Required = !r.Has("default")
	ok = all(
		d.values(r, p),
		field(d, r, "min", &p.Min, func(v source.Value) (*int64, bool) { return d.limit(v, p) }),
		field(d, r, "max", &p.Max, func(v source.Value) (*int64, bool) { return d.limit(v, p) }),
	)
	if ok && p.Min != nil && p.Max != nil && *p.Min > *p.Max {
		ok = false
		d.Report(r.Get("max"), decode.Problem{Code: schema.BadParam, Message: "max is less than min"})
	}
	return ok && field(d, r, "default", &p.Default, func(v source.Value) (any, bool) { return d.paramValue(v, p) })
}

// values reads the legal values of an enum.
func (d *decoder) values(r *decode.Record, p *Param) bool {
	e, given := r.Entry("values")
	switch {
	case p.Type == TypeEnum && !given:
		d.Missing(r.At, "param of type enum", "values")
		return false
	case p.Type != TypeEnum && given:
		d.Report(e.Key(), decode.Problem{Code: schema.BadParam, Message: fmt.Sprintf("a param of type %s has no values", p.Type), Hint: "only enum has them"})
		return false
	}
	ok := field(d, r, "values", &p.Values, func(v source.Value) ([]string, bool) {
		values, good := []string{}, true
		ok := d.Items(v, "strings", func(_ int, item source.Value) {
			s, ok := d.String(item, "string")
			values, good = append(values, s), good && ok
		})
		return values, ok && good
	})
	if given && ok && len(p.Values) == 0 {
		d.Report(e.Value, decode.Problem{Code: schema.BadParam, Message: "an enum without values can have none"})
		return false
	}
	return ok
}

// limit reads the `min` or `max` of a param, in the unit of its type.
func (d *decoder) limit(v source.Value, p *Param) (*int64, bool) {
	var n int64
	ok := false
	switch p.Type {
	case TypeInt:
		n, ok = d.Integer(v, math.MinInt64, math.MaxInt64)
	case TypeSize:
		var size layout.Size
		size, ok = d.Size(v)
		n = int64(size)
	case TypeDuration:
		var t time.Duration
		t, ok = d.duration(v)
		n = int64(t)
	default:
		d.Report(v, decode.Problem{
			Code: schema.BadParam, Message: fmt.Sprintf("a param of type %s has no limits", p.Type), Hint: "only int, size and duration have them",
		})
	}
	return &n, ok
}

// params reads the values given for the parameters of a kind.
func (d *decoder) params(r *decode.Record, k *kindEntry) (Params, bool) {
	v, ok := r.Get("params"), true
	var given []ParamValue
	if k.broken {
		return Params{}, true
	}
	if v.Present() {
		d.Enter("params")
		given, ok = memo(d, v, "params", k.Kind, func(v source.Value) ([]ParamValue, bool) { return d.paramValues(v, k) })
		d.Leave()
	}
	return NewParams(k.Kind, given), d.requiredParams(r, k) && ok
}

// requiredParams reports the params that are missing, unless an unknown one was probably
// meant to be it.
func (d *decoder) requiredParams(r *decode.Record, k *kindEntry) bool {
	v, ok := r.Get("params"), true
	if v.Present() && !v.IsMapping() {
		return false // which has been reported
	}
	given := keySet{of: v}
	var meant []string
	for i := range k.Params {
		p := &k.Params[i]
		if !p.Required || given.has(p.Name) {
			continue
		}
		if ok {
			ok = false
			meant = d.meantParams(v, k)
		}
		if !slices.Contains(meant, p.Name) {
			d.missingParam(r, k, p)
		}
	}
	return ok
}

// A keySet tells which keys of a mapping have values that are not null.
type keySet struct {
	of    source.Value
	known map[string]bool // of a large mapping, once it is needed
}

// few is the number of keys up to which a mapping is searched from its start.
const few = 16

func (s *keySet) has(name string) bool {
	if s.of.Len() <= few {
		e, ok := s.of.Get(name)
		return ok && !e.Value.IsNull()
	}
	if s.known == nil {
		s.known = make(map[string]bool, s.of.Len())
		for it := s.of.Entries(); it.Next(); {
			s.known[it.Name] = !it.Value.IsNull()
		}
	}
	return s.known[name]
}

// meantParams lists the params that unknown ones were probably meant to be.
func (d *decoder) meantParams(v source.Value, k *kindEntry) []string {
	var meant []string
	for it := v.Entries(); it.Next(); {
		if k.param(it.Name) == nil {
			if name := d.Closest(it.Name, k.paramNames()); name != "" {
				meant = append(meant, name)
			}
		}
	}
	return meant
}

func (d *decoder) missingParam(r *decode.Record, k *kindEntry, p *Param) {
	problem := decode.Problem{
		Code:    schema.MissingParam,
		Message: fmt.Sprintf("%s of kind %q needs param %q", k.Role, k.Name, p.Name),
	}
	if !p.Pos.IsZero() {
		problem.Related = []diag.Related{{Pos: p.Pos, Message: "param declared here"}}
	}
	d.Lacks(r.At, problem)
}

func (d *decoder) paramValues(v source.Value, k *kindEntry) ([]ParamValue, bool) {
	given, good := make([]ParamValue, 0, v.Len()), true
	ok := d.Fields(v, "mapping", func(e source.Entry) {
		p := k.param(e.Name)
		if p == nil {
			d.unknownParam(e, k)
			good = false
			return
		}
		value, ok := d.paramValue(e.Value, p)
		good = good && ok
		given = append(given, ParamValue{Name: p.Name, Value: value, Pos: e.Value.Pos()})
	})
	return given, ok && good
}

func (d *decoder) unknownParam(e source.Entry, k *kindEntry) {
	names := k.paramNames()
	hint := d.Suggest(e.Name, names, "params")
	if len(names) == 0 {
		hint = "it has no params"
	}
	d.Report(e.Key(), decode.Problem{
		Code: schema.UnknownParam, Message: fmt.Sprintf("kind %q has no param %q", k.Name, e.Name), Hint: hint,
	})
}

// paramValue reads one value of a param, of the Go type that belongs to it.
func (d *decoder) paramValue(v source.Value, p *Param) (any, bool) {
	switch p.Type {
	case TypeString:
		return anyOf(d.String(v, "string"))
	case TypeStrings:
		return anyOf(d.texts(v))
	case TypeInt:
		return anyOf(d.intParam(v, p))
	case TypeSize:
		size, ok := d.Size(v)
		return size, ok && d.within(v, int64(size), p, func(n int64) string { return layout.Size(n).String() })
	case TypeBool:
		return anyOf(d.Bool(v))
	case TypeEnum:
		return anyOf(d.Enum(v, p.Values))
	case TypePath:
		return anyOf(d.ResourcePath(v))
	case TypeDuration:
		t, ok := d.duration(v)
		return t, ok && d.within(v, int64(t), p, func(n int64) string { return time.Duration(n).String() })
	case TypeMapping:
		return anyOf(d.object(v))
	}
	panic(fmt.Sprintf("topology: param %q has the unknown type %q", p.Name, p.Type))
}

func anyOf[T any](value T, ok bool) (any, bool) { return value, ok }

func (d *decoder) intParam(v source.Value, p *Param) (int64, bool) {
	n, ok := d.Integer(v, math.MinInt64, math.MaxInt64)
	if !ok || !d.within(v, n, p, func(n int64) string { return fmt.Sprint(n) }) {
		return 0, false
	}
	if p.MultipleOf != 0 && n%p.MultipleOf != 0 {
		d.Report(v, decode.Problem{Code: schema.OutOfRange, Message: fmt.Sprintf("param %q is %d, and must be a multiple of %d", p.Name, n, p.MultipleOf)})
		return 0, false
	}
	return n, true
}

// within checks the limits of a param.
func (d *decoder) within(v source.Value, n int64, p *Param, spell func(int64) string) bool {
	var limits []string
	if p.Min != nil {
		limits = append(limits, "at least "+spell(*p.Min))
	}
	if p.Max != nil {
		limits = append(limits, "at most "+spell(*p.Max))
	}
	if (p.Min == nil || n >= *p.Min) && (p.Max == nil || n <= *p.Max) {
		return true
	}
	d.Report(v, decode.Problem{
		Code: schema.OutOfRange, Message: fmt.Sprintf("param %q is %s, and must be %s", p.Name, spell(n), strings.Join(limits, " and ")),
	})
	return false
}

// texts reads a sequence of texts.
func (d *decoder) texts(v source.Value) ([]string, bool) {
	return memo(d, v, "texts", nil, func(v source.Value) ([]string, bool) {
		texts, good := make([]string, 0, v.Len()), true
		ok := d.Items(v, "texts", func(_ int, item source.Value) {
			s, ok := d.Text(item)
			texts, good = append(texts, s), good && ok
		})
		return slices.Clip(texts), ok && good
	})
}
