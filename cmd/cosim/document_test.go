package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cosim-go/cosim/runtime/plan"
	"github.com/cosim-go/cosim/topology/layout"
)

// userDocument is the document that users start with. It has to work as it is.
const userDocument = `version: 1
imports:
  - vhosts/qemu.yaml
  - devices/gpu/mi300x.yaml
machines:
  - id: m0
    vhost: {use: vhost-x86, memory: 32G}
    devices:
      - {use: mi300x, count: 2}
`

// stubPrograms stand in for simulators that are not installed.
const stubPrograms = `
-- bin/qemu-system-x86_64 --
#!/bin/sh
exec stub-qemu "$@"
-- bin/gem5.opt --
#!/bin/sh
exec stub-gem5 "$@"
`

// newNode is a workspace with a topology outside of it, at ../node.yaml, and the stubs
// in PATH.
func newNode(t *testing.T, topology string) *workspace {
	t.Helper()
	w := newWorkspace(t, stubPrograms)
	w.write("../node.yaml", topology)
	w.env = append(w.env, "PATH="+w.path("bin")+":"+binDir()+":/usr/bin:/bin", "STUB_GUEST=poweroff")
	return w
}

// Libraries that the user's document works with: the shipped one by its path, and the
// built-in one.
func libraries(t *testing.T) map[string][]string {
	t.Helper()
	shipped, err := filepath.Abs("../../resources")
	if err != nil {
		t.Fatal(err)
	}
	return map[string][]string{"shipped": {"--resources", shipped}, "built-in": nil}
}

// Requirements: T4, T9, P1, X3
func TestUserDocument(t *testing.T) {
	for name, library := range libraries(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newNode(t, userDocument)
			args := func(command ...string) []string { return append(append(command, library...), "../node.yaml") }
			if stdout, _ := w.want(0, args("validate")...); stdout != "../node.yaml: ok (1 machine, 2 devices, pools of 48 GiB)\n" {
				t.Errorf("validate prints %q", stdout)
			}
			stdout, stderr := w.want(0, args("run", "--dry-run")...)
			var p plan.Plan
			w.readJSON("", stdout, &p)
			if len(p.Launch.Missing) > 0 || stderr != "" {
				t.Errorf("missing %v\n%s", p.Launch.Missing, stderr)
			}
			ids := []string{}
			for _, process := range p.Launch.Processes {
				ids = append(ids, process.ID)
			}
			if got := strings.Join(ids, " "); got != "m0/mi300x-0 m0/mi300x-1 m0/vhost" {
				t.Errorf("the plan runs %s", got)
			}
			w.want(0, args("run", "--overcommit")...)
		})
	}
}

// A node of 32 GiB and eight GPUs of 8 GiB, in all places that tell of its memory.
//
// Requirements: L1, L3, L4
func TestNodeLayout(t *testing.T) {
	for name, devices := range map[string]string{
		"from the template": "{use: mi300x, count: 8}",
		"written out":       "{use: mi300x, count: 8, regions: {vram: 8G}}",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newNode(t, strings.Replace(userDocument, "{use: mi300x, count: 2}", devices, 1))
			var printed layout.Layout
			stdout, _ := w.want(0, "layout", "--format", "json", "../node.yaml")
			w.readJSON("", stdout, &printed)
			wantNodeLayout(t, "cosim layout", printed)

			var p plan.Plan
			stdout, _ = w.want(0, "run", "--dry-run", "../node.yaml")
			w.readJSON("", stdout, &p)
			wantNodeLayout(t, "the plan", *p.Launch.Layout())

			var recorded layout.Layout
			w.want(0, "run", "--overcommit", "--pool-dir", filepath.Join(w.home, "pools"), "../node.yaml")
			w.readJSON(".cosim/node/layout.json", "", &recorded)
			wantNodeLayout(t, "layout.json", recorded)
			if _, err := os.Lstat(filepath.Join(w.home, "pools")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the pool directory is left: %v", err)
			}
		})
	}
}

func wantNodeLayout(t *testing.T, where string, l layout.Layout) {
	t.Helper()
	const g = layout.GiB
	if len(l.Machines) != 1 || l.Machines[0].Size != 96*g || len(l.Machines[0].Regions) != 9 {
		t.Fatalf("%s: %+v, want a pool of 96 GiB with 9 regions", where, l.Machines)
	}
	for i, name := range map[int]string{0: "memory", 1: "mi300x-0.vram", 2: "mi300x-1.vram", 8: "mi300x-7.vram"} {
		r := l.Machines[0].Regions[i]
		offset, size := layout.Addr(0), 32*g
		if i > 0 {
			offset, size = layout.Addr(32*g+layout.Size(i-1)*8*g), 8*g
		}
		if r.Name != name || r.Offset != offset || r.Size != size {
			t.Errorf("%s: region %d = %+v, want %s of %d bytes at %d", where, i, r, name, size, offset)
		}
	}
}
