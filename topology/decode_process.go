package topology

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cosim-go/cosim/topology/internal/decode"
	"github.com/cosim-go/cosim/topology/internal/source"
	"github.com/cosim-go/cosim/topology/schema"
)

// process reads what a vhost and a device have in common, apart from disks. The kind
// may be nil.
func (d *decoder) process(r *decode.Record, k *kindEntry, p *Process) bool {
	p.Pos, p.Timeout = r.At.Pos(), DefaultTimeout
	ok := k != nil
	if k != nil {
		p.Kind, p.Program = k.Kind, k.Program
		p.Params, ok = d.params(r, k)
	}
	return all(ok,
		field(d, r, "program", &p.Program, d.program),
		field(d, r, "args", &p.Args, d.texts),
		field(d, r, "env", &p.Env, d.env),
		field(d, r, "timeout", &p.Timeout, d.duration),
	)
}

// program reads an executable: a resource path if it has a slash, else a name.
func (d *decoder) program(v source.Value) (Path, bool) {
	return d.path(v)
}

// path reads a resource path.
func (d *decoder) path(v source.Value) (Path, bool) {
	name, ok := d.ResourcePath(v)
	return Path{Name: name, Pos: v.Pos()}, ok
}

func (d *decoder) duration(v source.Value) (time.Duration, bool) {
	return d.Duration(v, schema.MinDuration, schema.MaxDuration)
}

// env reads variables, sorted by name.
func (d *decoder) env(v source.Value) ([]EnvVar, bool) {
	return memo(d, v, "env", nil, func(v source.Value) ([]EnvVar, bool) {
		vars, good := make([]EnvVar, 0, v.Len()), true
		ok := d.Fields(v, "mapping", func(e source.Entry) {
			value, ok := d.Text(e.Value)
			good = all(good, ok, d.envName(e))
			vars = append(vars, EnvVar{e.Name, value})
		})
		slices.SortFunc(vars, func(a, b EnvVar) int { return cmp.Compare(a.Name, b.Name) })
		return vars, ok && good
	})
}

// regions reads a mapping of regions, in order.
func (d *decoder) regions(v source.Value) ([]Region, bool) {
	return memo(d, v, "regions", nil, func(v source.Value) ([]Region, bool) {
		regions, good := make([]Region, 0, v.Len()), true
		ok := d.Fields(v, "mapping", func(e source.Entry) {
			region := Region{Pos: e.Pos()}
			name, ok := d.Key(e)
			region.Name = name
			good = all(good, ok, d.region(e.Value, &region))
			regions = append(regions, region)
		})
		return regions, ok && good
	})
}

func (d *decoder) region(v source.Value, region *Region) bool {
	d.noteOrigin(region.Pos, v)
	if v.IsScalar() { // the short form
		size, ok := d.Size(v)
		region.Size = size
		return ok
	}
	r, ok := d.Section(v, schema.Region)
	defer d.Done(r)
	return all(ok,
		field(d, r, "size", &region.Size, d.Size),
		field(d, r, "align", &region.Align, d.Size),
	)
}

// deviceRegions joins the regions of a device's kind with those of its entry.
func (d *decoder) deviceRegions(r *decode.Record, k *kindEntry) ([]Region, bool) {
	var own, kinds []Region
	if k.Template != nil {
		kinds = k.Template.Regions
	}
	ok := field(d, r, "regions", &own, d.regions)
	if r.Has("regions") {
		d.Enter("regions")
		ok = d.regionRules(r.Get("regions"), k) && ok
		d.Leave()
	}
	if len(kinds) == 0 {
		return own, d.requiredRegions(r, k) && ok
	}
	return overlayRegions(slices.Clone(kinds), own), ok
}

// overlayRegions puts regions over those of a kind, new ones behind them.
func overlayRegions(regions, own []Region) []Region {
	if len(own) == 0 {
		return regions
	}
	index := make(map[string]int, len(regions))
	for i, region := range regions {
		index[region.Name] = i
	}
	for _, region := range own {
		if i, known := index[region.Name]; known {
			regions[i] = region
		} else {
			regions = append(regions, region)
		}
	}
	return regions
}

// regionRules checks the names of the regions that an entry gives.
func (d *decoder) regionRules(v source.Value, k *kindEntry) bool {
	if k.Template == nil && !k.RegionsOnly {
		return true
	}
	ok := true
	for it := v.Entries(); it.Next(); {
		p := decode.Problem{}
		switch {
		case it.Value.IsNull():
			continue
		case k.Template == nil && !slices.Contains(k.RegionsRequired, it.Name):
			p.Code = schema.UnknownRegion
			p.Message = fmt.Sprintf("kind %q has no use for a region %q", k.Name, it.Name)
			p.Hint = d.Suggest(it.Name, k.RegionsRequired, "regions")
		case k.Template != nil && it.Name == memoryRegion:
			p.Code = schema.ReservedIdentifier
			p.Message = fmt.Sprintf("region %q of a template kind's device is reserved for the guest's memory", it.Name)
		default:
			continue
		}
		ok = false
		d.Report(it.Key(), p)
	}
	return ok
}

// requiredRegions checks that a device has the regions that its kind needs.
func (d *decoder) requiredRegions(r *decode.Record, k *kindEntry) bool {
	v, ok := r.Get("regions"), true
	given := keySet{of: v}
	for _, name := range k.RegionsRequired {
		if given.has(name) {
			continue
		}
		ok = false
		if k.RegionsOnly && v.Len() >= len(k.RegionsRequired) {
			continue // another name was reported in its place
		}
		d.Lacks(r.At, decode.Problem{
			Code:    schema.MissingRegion,
			Message: fmt.Sprintf("device of kind %q needs region %q", k.Name, name),
			Hint:    fmt.Sprintf("write regions: {%s: SIZE}", strings.Join(k.RegionsRequired, ": SIZE, ")),
		})
	}
	return ok
}
