package builtin_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cosim-go/cosim/adapters/adapterstest"
	"github.com/cosim-go/cosim/adapters/builtin"
	"github.com/cosim-go/cosim/topology/diag"
)

// brief is what the tests below compare of a diagnostic: where, which, and where else.
func brief(d diag.Diagnostic) string {
	s := fmt.Sprintf("%d:%d %s %s: %s", d.Pos.Line, d.Pos.Column, d.Severity, d.Code, d.Message)
	for _, r := range d.Related {
		s += fmt.Sprintf("; %d:%d %s", r.Pos.Line, r.Pos.Column, r.Message)
	}
	return s
}

func briefs(list diag.List) []string {
	var out []string
	for _, d := range list.Sorted() {
		out = append(out, brief(d))
	}
	return out
}

func compare(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n%s\nwant:\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Requirement: X4
func TestChecksOfKinds(t *testing.T) {
	cases := []struct {
		name, text string
		want       []string
	}{
		{
			name: "a machine without PCI Express",
			text: `version: 1
machines:
  - id: m0
    vhost: {kind: qemu-vhost, memory: 64M, params: {machine: "pc,usb=on"}}
  - id: m1
    vhost: {kind: qemu-vhost, memory: 64M, params: {machine: pc-i440fx-7.2}}
  - id: m2
    vhost: {kind: qemu-vhost, memory: 64M, params: {machine: pc-q35-7.2}}
`,
			want: []string{
				`4:62 error machine-type: QEMU machine "pc" has no PCI Express root bus`,
				`6:62 error machine-type: QEMU machine "pc-i440fx-7.2" has no PCI Express root bus`,
			},
		},
		{
			name: "disks on bus ide",
			text: `version: 1
machines:
  - id: m0
    vhost:
      kind: qemu-vhost
      memory: 64M
      disks:
        - {id: a, path: a.raw, format: raw, bus: ide, readonly: true}
        - {id: b, path: a.raw, format: raw, bus: ide}
        - {id: c, path: a.raw, format: raw, bus: ide}
        - {id: d, path: a.raw, format: raw, bus: ide}
        - {id: e, path: a.raw, format: raw, bus: ide}
        - {id: f, path: a.raw, format: raw, bus: ide}
        - {id: v, path: a.raw, format: raw}
        - {id: g, path: a.raw, format: raw, bus: ide}
        - {id: h, path: a.raw, format: raw, bus: ide}
`,
			want: []string{
				`8:11 error readonly-disk: disk "a" is readonly, but a disk on bus ide must be writable`,
				`15:11 error disk-limit: disk "g" is one too many on bus ide, which takes 6`,
			},
		},
		{
			name: "a device of QEMU with two drives and properties of ours",
			text: `version: 1
machines:
  - id: m0
    vhost: {kind: qemu-vhost, memory: 64M}
    devices:
      - id: n
        kind: qemu-device
        params: {device: nvme, properties: {serial: x, id: y, drive: z, driver: w}}
        disks:
          - {id: a, path: a.raw, format: raw}
          - {id: s, path: a.raw, format: raw, bus: scsi}
          - {id: b, path: a.raw, format: raw}
          - {id: c, path: a.raw, format: raw}
`,
			want: []string{
				`8:44 error device-property: property "drive" of device "n" is set by kind qemu-device`,
				`8:44 error device-property: property "driver" of device "n" is set by kind qemu-device`,
				`8:44 error device-property: property "id" of device "n" is set by kind qemu-device`,
				`12:13 error disk-limit: disk "b" is one too many for device "n", which has one drive`,
			},
		},
		{
			name: "memory in two places",
			text: `version: 1
kinds:
  reader:
    role: device
    program: reader
    args: ["{{regions.memory.offset}}"]
  writer:
    role: device
    program: writer
    env: {POOL: "{{pool.path}}"}
  knower:
    role: device
    program: knower
    args: ["{{layout}}", "{{vhost.memory}}"]
machines:
  - id: m0
    vhost: {kind: qemu-vhost, memory: 8G, args: [-M, "max-ram-below-4g=1G"]}
    devices:
      - {id: a, kind: gem5-mi300x, params: {memory: separate}, regions: {vram: 1G}}
      - {id: b, kind: gem5-mi300x, regions: {vram: 1G}}
      - {id: r, kind: reader}
      - {id: w, kind: writer}
      - {id: k, kind: knower}
  - id: m1
    vhost: {kind: qemu-vhost, memory: 8G, params: {machine: "q35,max-ram-below-4g=1G"}}
    devices:
      - {id: a, kind: gem5-mi300x, regions: {vram: 1G}}
      - {id: r, kind: reader}
      - {id: b, kind: gem5-mi300x, params: {memory: separate}, regions: {vram: 1G}}
`,
			want: []string{
				`17:12 error memory-split: the vhost's max-ram-below-4g moves guest memory where device "a" does not look for it`,
				`20:9 error memory-style: device "b" has memory pool, but device "a" of the same machine has memory separate; 19:53 memory of device "a"`,
				`21:9 error memory-style: device "r" of kind "reader" uses {{regions.memory.offset}}, but device "a" has memory separate, so the guest's memory is not in the pool; 19:53 memory of device "a"; 3:3 kind "reader" is defined here`,
				`22:9 error memory-style: device "w" of kind "writer" uses {{pool.path}}, but device "a" has memory separate, so the guest's memory is not in the pool; 19:53 memory of device "a"; 7:3 kind "writer" is defined here`,
				`25:61 error memory-split: the vhost's max-ram-below-4g moves guest memory where device "a" does not look for it`,
				`29:53 error memory-style: device "b" has memory separate, but device "a" of the same machine has memory pool; 27:9 memory of device "a"`,
			},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, list := adapterstest.Load(c.text, builtin.Table().Kinds())
			compare(t, "diagnostics", briefs(list), c.want)
		})
	}
}

// What shows only when command lines are made.
//
// Requirements: X3, X6
func TestRenderingDiagnostics(t *testing.T) {
	var disks strings.Builder
	for i := range 239 {
		fmt.Fprintf(&disks, "        - {id: d%d, path: a.raw, format: raw}\n", i)
	}
	cases := []struct {
		name, text, root string
		want             []string
	}{
		{
			name: "more auto devices than slots",
			text: `version: 1
kinds:
  card: {role: device, program: card, attach: [-device, virtio-rng-pci]}
machines:
  - id: m0
    vhost: {kind: qemu-vhost, memory: 64M}
    devices: [{id: a, kind: card, count: 32}]
`,
			want: []string{`6:12 warning pci-slots: the PCI root bus has no slot left for 2 of the devices that name none`},
		},
		{
			name: "more disks than slots",
			text: `version: 1
machines:
  - id: m0
    vhost:
      kind: qemu-vhost
      memory: 64M
      args: [-device, "e1000,addr=0x1"]
      disks:
` + disks.String(),
			want: []string{`5:7 error pci-slots: the PCI root bus lacks slots for the disks and devices (1 more needed)`},
		},
		{
			name: "a path with a double quote", root: `/a"b`,
			text: pathTopology,
			want: []string{
				`10:12 error path-character: the path for {{pool.path}} has a double quote in it, which would break the text "--pool={{pool.path}}" of kind "sim"; 3:3 kind "sim" is defined here`,
				`12:9 error path-character: the path for {{log}} has a double quote in it, which would break the text "log={{log}}" of kind "card"; 6:3 kind "card" is defined here`,
				`12:9 error path-character: the path for {{params.rom}} has a double quote in it, which would break the text "-{{params.rom}}" of kind "card"; 6:3 kind "card" is defined here`,
				`12:9 error path-character: the path for {{socket}} has a double quote in it, which would break the text "-{{socket}}" of kind "card"; 6:3 kind "card" is defined here`,
				`12:9 error path-character: the path for {{socket}} has a double quote in it, which would break the text "at {{socket}}" of kind "card"; 6:3 kind "card" is defined here`,
			},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			compare(t, "diagnostics", briefs(renderAll(t, c.text, c.root)), c.want)
		})
	}
}

const pathTopology = `version: 1
kinds:
  sim: {role: vhost, program: sim, args: ["{{attach}}", "--pool={{pool.path}}", "{{run_dir}}"]}
  quiet:
    {role: device, program: card, args: ["{{socket}}", "{{device.id}} {{session.name}}"]}
  card:
    {role: device, program: card, attach: ["-{{socket}}"], ready: {log: "at {{socket}}", file: "{{log}}"}, env: {X: "log={{log}}"}, args: ["-{{params.rom}}"], params: {rom: {type: path, default: rom}}}
machines:
  - id: m0
    vhost: {kind: sim, memory: 64M}
    devices:
      - {id: a, kind: card}
      - {id: b, kind: quiet}
      - {id: c, kind: qemu-device, params: {device: pci-testdev, transport: vfio-user}}
`

// renderAll renders every machine of a topology and returns all problems.
func renderAll(t *testing.T, text, root string) diag.List {
	t.Helper()
	machines, err := adapterstest.Machines(loadModel(t, text), adapterstest.Options{Root: root})
	if err != nil {
		t.Fatal(err)
	}
	var all diag.List
	for _, m := range machines {
		_, list, err := adapterstest.Render(m, find)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, list...)
	}
	return all
}

// A backslash and control characters are refused like a double quote, other odd
// characters are not.
//
// Requirement: X6
func TestPathCharacters(t *testing.T) {
	for root, want := range map[string]string{
		`/a\b`: "a backslash", "/a\tb": "a control character", "/a\x7fb": "a control character", `/a b,c'd{}:=$ü`: "",
	} {
		list := renderAll(t, pathTopology, root)
		if (len(list) > 0) != (want != "") {
			t.Errorf("below %q: %q", root, briefs(list))
		}
		for _, d := range list {
			if !strings.Contains(d.Message, " has "+want+" in it") {
				t.Errorf("below %q: %q, want %s", root, d.Message, want)
			}
		}
	}
}

// Machines of one count have their own paths, and yet share what is wrong with their kinds.
//
// Requirements: V3, X6
func TestAProblemIsSaidOnceForAllMachines(t *testing.T) {
	one := renderAll(t, pathTopology, `/a"b`).Sorted()
	many := renderAll(t, strings.Replace(pathTopology, "id: m0", "id: m\n    count: 3", 1), `/a"b`).Sorted()
	compare(t, "diagnostics of three machines", messages(many), messages(one))
}

func messages(list diag.List) []string {
	var out []string
	for _, d := range list {
		out = append(out, d.Message)
	}
	return out
}
