package merge

import (
	"strings"
	"testing"

	"github.com/cosim-go/cosim/topology/internal/decode"
	"github.com/cosim-go/cosim/topology/internal/imports"
	"github.com/cosim-go/cosim/topology/internal/report"
	"github.com/cosim-go/cosim/topology/internal/source"
)

// mergeCases is the table of the merge: what a machine looks like once all of its `use`
// are resolved.
var mergeCases = []struct {
	name, templates, machine, want string
}{
	{"nothing is used", `{}`, `{id: a, count: 2}`, `{id: a, count: 2}`},
	{"an empty template changes nothing", `{t: {}}`, `{use: t, id: a}`, `{id: a}`},
	{"the template's keys come first, new ones behind", `{t: {count: 2, id: t}}`, `{vhost: {}, use: t, id: a}`, `{count: 2, id: a, vhost: {}}`},
	{"a template may have id and count", `{t: {id: t, count: 3}}`, `{use: t}`, `{id: t, count: 3}`},

	{"a written scalar wins", `{t: {id: t}}`, `{use: t, id: a}`, `{id: a}`},
	{"mappings merge", `{t: {vhost: {cpus: 1, memory: 1G}}}`, `{use: t, vhost: {cpus: 2, kind: k}}`, `{vhost: {cpus: 2, memory: 1G, kind: k}}`},
	{"mappings merge at every depth", `{t: {vhost: {params: {a: {x: 1, y: 2}, b: 1}}}}`, `{use: t, vhost: {params: {a: {y: 3, z: 4}}}}`, `{vhost: {params: {a: {x: 1, y: 3, z: 4}, b: 1}}}`},
	{"an empty mapping changes nothing", `{t: {vhost: {params: {a: 1}}}}`, `{use: t, vhost: {params: {}}}`, `{vhost: {params: {a: 1}}}`},
	{"a mapping over nothing", `{t: {id: t}}`, `{use: t, vhost: {cpus: 1}}`, `{id: t, vhost: {cpus: 1}}`},

	{"a sequence replaces", `{t: {vhost: {args: [a, b]}}}`, `{use: t, vhost: {args: [c]}}`, `{vhost: {args: [c]}}`},
	{"a sequence of mappings replaces", `{t: {devices: [{kind: a, id: x}, {kind: b}]}}`, `{use: t, devices: [{id: y}]}`, `{devices: [{id: y}]}`},
	{"an empty sequence empties", `{t: {vhost: {args: [a, b]}}}`, `{use: t, vhost: {args: []}}`, `{vhost: {args: []}}`},
	{"a sequence over a mapping", `{t: {vhost: {params: {a: {x: 1}}}}}`, `{use: t, vhost: {params: {a: [1]}}}`, `{vhost: {params: {a: [1]}}}`},
	{"a mapping over a sequence", `{t: {vhost: {params: {a: [1]}}}}`, `{use: t, vhost: {params: {a: {x: 1}}}}`, `{vhost: {params: {a: {x: 1}}}}`},

	{"the short form replaces the long one", `{t: {devices: [], vhost: {image: {path: p, format: raw}}}}`, `{use: t, vhost: {image: q}}`, `{devices: [], vhost: {image: q}}`},
	{"the long form replaces the short one", `{t: {vhost: {image: q}}}`, `{use: t, vhost: {image: {format: raw}}}`, `{vhost: {image: {format: raw}}}`},
	{"long form over long form", `{t: {vhost: {image: {path: p, format: raw}}}}`, `{use: t, vhost: {image: {path: q}}}`, `{vhost: {image: {path: q, format: raw}}}`},
	{"the short form of a region drops the alignment", `{d: {regions: {vram: {size: 8G, align: 1G}}}}`, `{devices: [{use: d, regions: {vram: 16G}}]}`, `{devices: [{regions: {vram: 16G}}]}`},

	{"null removes a scalar", `{t: {id: t, count: 2}}`, `{use: t, count: ~}`, `{id: t}`},
	{"null removes a section", `{t: {id: t, vhost: {cpus: 1}}}`, `{use: t, vhost: null}`, `{id: t}`},
	{"null removes a sequence", `{t: {devices: [{id: x}]}}`, `{use: t, devices: }`, `{}`},
	{"null removes inside a section", `{t: {vhost: {cpus: 1, memory: 1G}}}`, `{use: t, vhost: {cpus: null}}`, `{vhost: {memory: 1G}}`},
	{"null over nothing is nothing", `{t: {id: t}}`, `{use: t, count: null, vhost: {cpus: null}}`, `{id: t, vhost: {cpus: null}}`},
	{"null in a template over nothing", `{t: {id: null, count: 1}}`, `{use: t}`, `{count: 1}`},
	{"null in the middle of a chain removes what is further", `{far: {vhost: {cpus: 1, memory: 1G}}, near: {use: far, vhost: {memory: null}}}`, `{use: near, vhost: {kind: k}}`, `{vhost: {cpus: 1, kind: k}}`},
	{"what null removed can come again, behind", `{far: {id: t, count: 1}, near: {use: far, id: null}}`, `{use: near, id: a}`, `{count: 1, id: a}`},
	{"a section that null removed comes again without what was in it", `{far: {vhost: {cpus: 1}}, near: {use: far, vhost: null}}`, `{use: near, vhost: {kind: k}}`, `{vhost: {kind: k}}`},
	{"null in a sequence is left to be reported", `{t: {vhost: {args: [a]}}}`, `{use: t, vhost: {args: [~]}}`, `{vhost: {args: [~]}}`},
	{"a null use is none", `{t: {id: t}}`, `{use: ~, id: a}`, `{use: ~, id: a}`},

	{"a chain, the nearest wins", `{a: {use: b, id: a}, b: {use: c, id: b, count: 2}, c: {id: c, count: 3, vhost: {cpus: 3}}}`, `{use: a}`, `{id: a, count: 2, vhost: {cpus: 3}}`},
	{"order along a chain", `{a: {x: 1, use: b, y: 1}, b: {z: 2, x: 2}}`, `{w: 0, use: a}`, `{z: 2, x: 1, y: 1, w: 0}`},

	{"a use inside a template", `{t: {vhost: {use: v1, cpus: 4}}, v1: {kind: k, cpus: 1}}`, `{use: t}`, `{vhost: {kind: k, cpus: 4}}`},
	{"a use inside a template, under what is written", `{t: {vhost: {use: v1, cpus: 4}}, v1: {kind: k, cpus: 1, memory: 1G}}`, `{use: t, vhost: {memory: 2G}}`, `{vhost: {kind: k, cpus: 4, memory: 2G}}`},
	{"a use inside a template replaced", `{t: {vhost: {use: v1, cpus: 4}}, v1: {kind: k1, memory: 1G}, v2: {kind: k2, cpus: 2}}`, `{use: t, vhost: {use: v2}}`, `{vhost: {kind: k2, cpus: 4}}`},
	{"a use inside a template nulled", `{t: {vhost: {use: v1, cpus: 4}}, v1: {kind: k1}}`, `{use: t, vhost: {use: null}}`, `{vhost: {cpus: 4}}`},
	{"a use inside a template chained", `{t: {vhost: {use: v1}}, v1: {use: v0, cpus: 1}, v0: {cpus: 0, kind: k}}`, `{use: t}`, `{vhost: {cpus: 1, kind: k}}`},
	{"a use inside the far end of a chain replaced by the near one", `{far: {vhost: {use: v1, cpus: 4}}, near: {use: far, vhost: {use: v2}}, v1: {memory: 1G}, v2: {kind: k2}}`, `{use: near}`, `{vhost: {kind: k2, cpus: 4}}`},
	{"a use inside the far end of a chain nulled by the near one", `{far: {vhost: {use: v1, cpus: 4}}, near: {use: far, vhost: {use: ~}}, v1: {memory: 1G}}`, `{use: near}`, `{vhost: {cpus: 4}}`},
	{"a use over a template without one", `{t: {vhost: {cpus: 4}}, v: {cpus: 1, kind: k}}`, `{use: t, vhost: {use: v}}`, `{vhost: {cpus: 4, kind: k}}`},
	{"a section with its use removed", `{t: {vhost: {use: v}}, v: {kind: k}}`, `{use: t, vhost: ~}`, `{}`},

	{"devices", `{d: {kind: k, params: {a: 1}}}`, `{devices: [{use: d, count: 2}, {use: d, params: {b: 2}}, {kind: l}]}`, `{devices: [{kind: k, params: {a: 1}, count: 2}, {kind: k, params: {a: 1, b: 2}}, {kind: l}]}`},
	{"devices of a template", `{t: {devices: [{use: d}]}, d: {use: e, id: d}, e: {kind: k}}`, `{use: t}`, `{devices: [{kind: k, id: d}]}`},
	{"disks of a vhost and of a device", `{s: {format: raw, mode: direct}, t: {vhost: {disks: [{use: s, id: a}]}}}`, `{use: t, devices: [{disks: [{id: b, use: s, mode: ~}]}]}`, `{vhost: {disks: [{format: raw, mode: direct, id: a}]}, devices: [{disks: [{format: raw, id: b}]}]}`},
	{"the same template twice", `{d: {kind: k}}`, `{vhost: {use: d}, devices: [{use: d}, {use: d}]}`, `{vhost: {kind: k}, devices: [{kind: k}, {kind: k}]}`},

	{"merge keys come before templates", `{t: {id: t, count: 1}}`, `{<<: {use: t, id: m}, count: 2}`, `{id: m, count: 2}`},
	{"merge keys inside a template", `{t: {<<: {id: m, count: 1}, count: 2}}`, `{use: t}`, `{id: m, count: 2}`},
	{"aliases are followed", `{t: &t {vhost: {params: {a: 1}}}, u: *t}`, `{use: u, vhost: {params: {b: 2}}}`, `{vhost: {params: {a: 1, b: 2}}}`},
}

// Requirement: T6
func TestMergeTable(t *testing.T) {
	for _, c := range mergeCases {
		t.Run(c.name, func(t *testing.T) {
			machine, templates := load(t, c.templates, c.machine)
			if got := show(templates, machine, "machine"); got != c.want {
				t.Errorf("templates %s\nmachine   %s\nmerged is %s\nwant      %s", c.templates, c.machine, got, c.want)
			}
		})
	}
}

func load(t *testing.T, templates, machine string) (source.Value, *Templates) {
	t.Helper()
	text := "version: 1\ntemplates: " + templates + "\nmachines: [" + machine + "]\n"
	sink, budget := &report.Sink{}, &source.Budget{}
	open := func(string) ([]byte, string, error) { return []byte(text), "", nil }
	set := imports.Read(open, "t.yaml", nil, budget, sink)
	context := &decode.Context{Sink: sink, Budget: budget}
	collected := Collect(set, context, func(string) bool { return false })
	if err := sink.List().Err(); err != nil {
		t.Fatal(err)
	}
	return set.Documents[0].Fields.Get("machines").Item(0), collected
}

// show writes a value in flow style, with every `use` resolved.
func show(t *Templates, v source.Value, place string) string {
	switch place {
	case "machine", "vhost", "devices item", "disks item":
		v = t.Resolve(v)
	}
	switch {
	case v.IsMapping():
		var fields []string
		for it := v.Entries(); it.Next(); {
			fields = append(fields, it.Name+": "+show(t, it.Value, it.Name))
		}
		return "{" + strings.Join(fields, ", ") + "}"
	case v.IsSequence():
		var items []string
		for i := range v.Items() {
			items = append(items, show(t, v.Item(i), place+" item"))
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	return v.Text()
}
