package topology

import (
	"testing"
	"testing/fstest"
)

// TestEnds shows where a problem ends: behind the text of a scalar on one line.
func TestEnds(t *testing.T) {
	for text, want := range map[string]struct{ start, end int }{
		`id: a.b`:             {5, 8},
		`id: "a b"`:           {5, 10},
		`id: 'it''s'`:         {5, 12},
		`id: "q\"ä\u00e4"`:    {5, 17},
		"id: \"a\n  b\"":      {5, 0},
		`id: &x a.b`:          {5, 0},
		`id: !!str a.b`:       {5, 0},
		`id: |` + "\n    x y": {5, 0},
		`äö: x`:               {1, 3},
		`äö: x # comment`:     {1, 3},
		`"i\x64x": 3`:         {1, 9},
	} {
		files := fstest.MapFS{"main.yaml": {Data: []byte("version: 1\nmachines:\n- vhost: {kind: qemu-vhost, memory: 1M}\n  " + text + "\n")}}
		_, problems := Load(FromFS(files), "main.yaml", testOptions())
		d := problems[len(problems)-1]
		start, end := d.Pos.Column-2, d.End.Column
		if end > 0 {
			end -= 2
		}
		if start != want.start || end != want.end || d.Pos.Line != 4 {
			t.Errorf("%s: %v from column %d to %d, want %d to %d", text, d, start, end, want.start, want.end)
		}
	}
}

// TestPaths shows how the place in the model is written.
func TestPaths(t *testing.T) {
	files := fstest.MapFS{
		"main.yaml": {Data: []byte(`version: 1
imports: [lib.yaml]
machines:
  - {id: a, vhost: {use: v}}
  - id: b
    count: 2
    vhost: {kind: qemu-vhost, memory: 1M, disks: [{id: x, path: p, format: raw}, {id: y, path: ../p, format: raw}]}
    devices: [{kind: qemu-device, params: {device: 3}}, {kind: gem5, regions: {vram: {size: 1M, aling: 4K}}}]
`)},
		"lib.yaml": {Data: []byte(`version: 1
templates: {v: {kind: qemu-vhost, memory: 1MB}, w: {cpus: 0}}
kinds: {k: {role: device, program: p, args: ["x", "{{y}}"], params: {z: {type: x}}}}
`)},
	}
	want := map[string]bool{
		"machines[0].vhost.memory": true, "machines[1].vhost.disks[1].path": true, "machines[1].devices[0].params.device": true,
		"machines[1].devices[1].kind": true, "machines[1].devices[1].regions.vram": true, "templates.w.cpus": true,
		"kinds.k.args[1]": true, "kinds.k.params.z.type": true,
	}
	_, problems := Load(FromFS(files), "main.yaml", testOptions())
	for _, d := range problems {
		if !want[d.Path] {
			t.Errorf("path %q of %v", d.Path, d)
		}
		delete(want, d.Path)
	}
	for path := range want {
		t.Errorf("no problem has the path %q", path)
	}
}
