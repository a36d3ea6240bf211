package plan_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/adapters"
	"github.com/cosim-go/cosim/adapters/builtin"
	"github.com/cosim-go/cosim/runtime/execenv"
	"github.com/cosim-go/cosim/runtime/plan"
	"github.com/cosim-go/cosim/runtime/session"
	"github.com/cosim-go/cosim/topology"
	"github.com/cosim-go/cosim/topology/diag"
)

// A fakeHost is a host with the files that a test says. Executables are found in /bin.
type fakeHost struct {
	programs []string // names in /bin, and absolute paths
	files    map[string]plan.State
	links    map[string]string
	asked    map[string]int
}

func (h *fakeHost) LookPath(name string) (string, []string, bool) {
	h.asked[name]++
	path, lookedIn := name, []string{name}
	if !strings.Contains(name, "/") {
		path, lookedIn = "/bin/"+name, []string{"/bin"}
	}
	for _, p := range h.programs {
		if p == name {
			return path, lookedIn, true
		}
	}
	return "", lookedIn, false
}

func (h *fakeHost) Exists(path string) bool { _, ok := h.files[path]; return ok }

func (h *fakeHost) Resolve(path string) string {
	if to, ok := h.links[path]; ok {
		return to
	}
	return path
}

func (h *fakeHost) ImageState(_ string, i plan.Image) (plan.State, string) {
	h.asked[i.Path]++
	switch state, ok := h.files[i.Path]; {
	case ok:
		return state, "as the test says"
	case i.Recipe != nil:
		return plan.Absent, "not there yet"
	}
	return plan.Unbuildable, "not there, and without a recipe"
}

func newHost(programs ...string) *fakeHost {
	return &fakeHost{programs: programs, files: map[string]plan.State{}, links: map[string]string{}, asked: map[string]int{}}
}

// input loads a topology and makes everything that its plan depends on.
func input(t testing.TB, text string, host plan.Host) plan.Input {
	t.Helper()
	kinds := builtin.Table()
	src := topology.FromFS(fstest.MapFS{"top.yaml": {Data: []byte(text)}})
	model, list := topology.Load(src, "top.yaml", &topology.Options{Kinds: kinds.Kinds()})
	require.NoError(t, list.Err())
	placed, list := topology.Layout(model, 4096)
	require.NoError(t, list.Err())
	env := execenv.ExecEnv{PageSize: 4096, Path: []string{"/bin"}, WorkDir: "/w", DiskLockDir: "/locks", RuntimeDir: "/run/user/7", ShmDir: "/dev/shm"}
	names, err := session.NewLayout(env, session.Options{Topology: "top.yaml"})
	require.NoError(t, err)
	return plan.Input{
		Model: model, Layout: placed, Env: env, Session: names, Host: host,
		Adapter: func(k *topology.Kind) adapters.Adapter { return builtin.For(kinds, k) },
	}
}

func made(t testing.TB, text string, host plan.Host) *plan.Plan {
	t.Helper()
	p, list := plan.Make(input(t, text, host))
	require.NoError(t, list.Err())
	return p
}

func text(t testing.TB, p *plan.Plan) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, p.WriteJSON(&b))
	return b.String()
}

const kinds = `version: 1
kinds:
  host: {role: vhost, program: host-sim, args: ["{{attach}}"]}
  nic:
    role: device
    program: nic-sim
    args: ["--bar={{regions.bar.offset}}", "--socket={{socket}}"]
    regions: {bar: 2M}
    ready: {socket: "{{socket}}"}
    attach: ["--nic={{socket}}"]
`

// Requirements: X3, P1. Each device stands before its host, which depends on all of them and on
// nothing else; machines do not depend on each other.
func TestProcessesStandInTheOrderOfTheirDependencies(t *testing.T) {
	p := made(t, kinds+`
machines:
  - {id: m, count: 2, vhost: {kind: host, memory: 4M}, devices: [{kind: nic, count: 2}, {id: last, kind: nic}]}
`, newHost("host-sim", "nic-sim"))
	var ids []string
	for _, process := range p.Launch.Processes {
		ids = append(ids, process.ID)
		if process.Role == topology.RoleDevice {
			require.Empty(t, process.DependsOn)
		} else {
			m := process.Machine
			require.Equal(t, []string{m + "/nic-0", m + "/nic-1", m + "/last"}, process.DependsOn)
		}
	}
	require.Equal(t, []string{"m0/nic-0", "m0/nic-1", "m0/last", "m0/vhost", "m1/nic-0", "m1/nic-1", "m1/last", "m1/vhost"}, ids)
	vhost := p.Launch.Process("m1/vhost")
	require.Equal(t, "/bin/host-sim", vhost.Program)
	require.Equal(t, []string{"--nic=/w/.cosim/top/m1/nic-0.sock", "--nic=/w/.cosim/top/m1/nic-1.sock", "--nic=/w/.cosim/top/m1/last.sock"}, vhost.Args)
	require.Equal(t, []string{"--bar=6291456", "--socket=/w/.cosim/top/m1/nic-1.sock"}, p.Launch.Process("m1/nic-1").Args)
}

// Requirements: P3, X4. The same inputs give the same bytes, and a topology written with count
// those of the one written out.
func TestTheSameInputsGiveTheSameBytes(t *testing.T) {
	const short = kinds + "machines:\n  - {id: m, count: 3, vhost: {kind: host, memory: 4M, env: {A: '1', B: '2'}}, devices: [{kind: nic, count: 2}]}\n"
	long := kinds + "machines:\n"
	for i := range 3 {
		long += fmt.Sprintf("  - {id: m%d, vhost: {kind: host, memory: 4M, env: {B: '2', A: '1'}}, devices: [{id: nic-0, kind: nic}, {id: nic-1, kind: nic}]}\n", i)
	}
	want := text(t, made(t, short, newHost("host-sim", "nic-sim")))
	require.Equal(t, want, text(t, made(t, short, newHost("host-sim", "nic-sim"))))
	require.Equal(t, want, text(t, made(t, long, newHost("host-sim", "nic-sim"))))
}

func codes(list diag.List) (out []string) {
	for _, d := range list {
		out = append(out, fmt.Sprintf("%s %s: %s", d.Code, d.Pos, d.Message))
	}
	return out
}

// Requirement: V7. What is not there is in the plan with every place looked in, and said
// once at the place in the topology that asks for it.
func TestWhatIsMissingIsListedAndSaid(t *testing.T) {
	p, list := plan.Make(input(t, kinds+`
machines:
  - {id: m, count: 2, vhost: {kind: host, memory: 4M}, devices: [{kind: nic}, {kind: nic, program: tools/nic}]}
`, newHost("host-sim")))
	require.NotNil(t, p)
	require.Equal(t, []plan.Missing{
		{What: "executable", Name: "nic-sim", NeededBy: []string{"m0/nic-0", "m1/nic-0"}, LookedIn: []string{"/bin"}},
		{What: "executable", Name: "tools/nic", NeededBy: []string{"m0/nic-1", "m1/nic-1"}, LookedIn: []string{"/w/tools/nic"}},
	}, p.Launch.Missing)
	require.Equal(t, []string{
		`missing-file top.yaml:6:14: executable "nic-sim" is not there, needed by m0/nic-0, m1/nic-0`,
		`missing-file top.yaml:13:100: executable "tools/nic" is not there, needed by m0/nic-1, m1/nic-1`,
	}, codes(list))
	require.Equal(t, "nic-sim", p.Launch.Process("m0/nic-0").Program)
}

const booted = `version: 1
machines:
  - id: m
    vhost:
      kind: qemu-vhost
      memory: 64M
      params: {accel: tcg}
      image: {path: images/root.qcow2, format: qcow2, recipe: {program: mkroot, inputs: [root.conf]}}
      boot: {kernel: images/vmlinuz, initrd: images/initrd}
`

// Requirements: X4, P3. Each artifact stands once, in the order of first use, with its state;
// what builds it counts as needed only where it must be built.
func TestImagesStandOnceWithTheirStates(t *testing.T) {
	host := newHost("qemu-system-x86_64", "qemu-img")
	host.files = map[string]plan.State{"/w/images/root.qcow2": plan.Ready, "/w/images/vmlinuz": plan.Ready, "/w/images/initrd": plan.Ready}
	p := made(t, booted, host)
	require.Len(t, p.Images, 3)
	require.Equal(t, []string{"m/image"}, p.Images[0].UsedBy)
	require.Equal(t, "mkroot", p.Images[0].Recipe.Program)
	require.Equal(t, []string{"m/kernel"}, p.Images[1].UsedBy)
	require.Equal(t, 1, host.asked["/w/images/vmlinuz"])
	require.Zero(t, host.asked["mkroot"])

	host.files["/w/images/root.qcow2"] = plan.Stale
	delete(host.files, "/w/images/initrd")
	p, list := plan.Make(input(t, booted, host))
	require.Equal(t, []string{
		`missing-file top.yaml:8:73: executable "mkroot" is not there, needed by m/image`,
		`missing-file top.yaml:8:90: file "root.conf" is not there, needed by m/image`,
		`missing-file top.yaml:9:46: file "images/initrd" is not there, needed by m/initrd`,
	}, codes(list))
	require.Len(t, p.Launch.Missing, 3)
}

// Requirement: X5. A disk gets an overlay of the session's own unless it says otherwise,
// and a lock named after its file, however that was reached.
func TestDisksHaveOverlaysAndLocks(t *testing.T) {
	host := newHost("qemu-system-x86_64", "qemu-img")
	host.files = map[string]plan.State{"/d/a.raw": plan.Ready, "/d/b.raw": plan.Ready, "/d/link.raw": plan.Ready}
	host.links["/d/link.raw"] = "/d/a.raw"
	p := made(t, `version: 1
machines:
  - id: m
    vhost:
      kind: qemu-vhost
      memory: 64M
      params: {accel: tcg}
      disks:
        - {id: a, path: /d/a.raw, format: raw}
        - {id: b, path: /d/b.raw, format: raw, mode: direct}
        - {id: c, path: /d/link.raw, format: raw, readonly: true}
`, host)
	disks := p.Launch.Machines[0].Disks
	require.Len(t, disks, 3)
	require.Equal(t, "/w/.cosim/top/m/a.qcow2", disks[0].Target)
	require.Equal(t, "/bin/qemu-img", disks[0].Tool)
	require.Equal(t, "/d/b.raw", disks[1].Target)
	require.Equal(t, "exclusive", disks[1].Lock.Mode)
	require.Equal(t, "/d/link.raw", disks[2].Target)
	require.Equal(t, disks[0].Lock, disks[2].Lock)
	require.Equal(t, "/locks", filepath.Dir(disks[0].Lock.Path))
	require.Len(t, filepath.Base(disks[0].Lock.Path), len("0123456789abcdef.lock"))
}

func TestADirectDiskIsNotShared(t *testing.T) {
	host := newHost("qemu-system-x86_64", "qemu-img")
	host.files = map[string]plan.State{"/d/a.raw": plan.Ready, "/d/link.raw": plan.Ready}
	host.links["/d/link.raw"] = "/d/a.raw"
	p, list := plan.Make(input(t, `version: 1
machines:
  - id: m
    vhost:
      kind: qemu-vhost
      memory: 64M
      params: {accel: tcg}
      disks:
        - {id: a, path: /d/a.raw, format: raw, mode: direct}
        - {id: b, path: /d/link.raw, format: raw}
`, host))
	require.Nil(t, p)
	require.Equal(t, []string{`disk-conflict top.yaml:10:11: disk "m/b" uses the same file as disk "m/a", and a direct disk cannot be shared`}, codes(list))
}

// Requirement: V6. A machine on another host is planned: its files and programs stay as
// written, and nobody looks for them here.
func TestRemoteMachinesStayAsWritten(t *testing.T) {
	host := newHost()
	p := made(t, `version: 1
machines:
  - id: m
    placement: {agent: lab7}
    vhost: {kind: qemu-vhost, memory: 64M, params: {accel: tcg}, boot: {kernel: images/vmlinuz}, disks: [{id: a, path: d/a.raw, format: raw, mode: direct}]}
`, host)
	require.Empty(t, p.Launch.Missing)
	require.Empty(t, host.asked)
	require.Equal(t, "lab7", p.Launch.Machines[0].Placement)
	require.Equal(t, "qemu-system-x86_64", p.Launch.Process("m/vhost").Program)
	require.Contains(t, p.Launch.Process("m/vhost").Args, "images/vmlinuz")
	require.Empty(t, p.Launch.Machines[0].Disks[0].Lock.Path)
}

// Requirement: X2. Where one socket path of the session is too long, all of them are short.
func TestSocketPathsFit(t *testing.T) {
	long := strings.Repeat("n", 48)
	p := made(t, kinds+fmt.Sprintf("machines:\n  - {id: %s, vhost: {kind: host, memory: 4M}, devices: [{id: %s, kind: nic}]}\n", long, "d"+long[1:]), newHost("host-sim", "nic-sim"))
	require.Equal(t, "/run/user/7/cosim-"+session.Hash("/w/.cosim/top"), p.Launch.Session.SocketDir)
	require.Equal(t, p.Launch.Session.SocketDir+"/0.sock", p.Launch.Processes[0].Ready.Socket)
	require.Equal(t, []string{"--nic=" + p.Launch.Session.SocketDir + "/0.sock"}, p.Launch.Processes[1].Args)
}

// Requirements: X6, L4. The fork's style of memory keeps each region in a file of its own.
func TestSeparateMemoryHasFiles(t *testing.T) {
	p := made(t, `version: 1
machines:
  - id: m
    vhost: {kind: qemu-vhost, memory: 8G, params: {accel: tcg}}
    devices: [{id: gpu, kind: gem5-mi300x, params: {memory: separate}, regions: {vram: 16G}}]
`, newHost("qemu-system-x86_64", "gem5.opt"))
	hash := session.Hash("/w/.cosim/top")
	regions := p.Launch.Machines[0].Pool.Regions
	require.Equal(t, "/dev/shm/cosim-"+hash+"-m", regions[0].File)
	require.Equal(t, "/dev/shm/cosim-"+hash+"-m.gpu", regions[1].File)
	require.Equal(t, regions, p.Launch.Layout().Machines[0].Regions)
}

// Requirements: L4, X3. A socket pair joins a QEMU device to its vhost, numbered from 3 in each.
func TestChannelsJoinDeviceAndVhost(t *testing.T) {
	p := made(t, `version: 1
machines:
  - id: m
    vhost: {kind: qemu-vhost, memory: 64M, params: {accel: tcg}}
    devices: [{id: d, count: 2, kind: qemu-device, params: {device: pci-testdev}}]
`, newHost("qemu-system-x86_64"))
	require.Equal(t, []adapters.FD{{Number: 3, Channel: "m/d0"}}, p.Launch.Process("m/d0").FDs)
	require.Equal(t, []adapters.FD{{Number: 3, Channel: "m/d1"}}, p.Launch.Process("m/d1").FDs)
	require.Equal(t, []adapters.FD{{Number: 3, Channel: "m/d0"}, {Number: 4, Channel: "m/d1"}}, p.Launch.Process("m/vhost").FDs)
	again, err := plan.Read([]byte(text(t, p)), 4096)
	require.NoError(t, err)
	require.Equal(t, text(t, p), text(t, again))
}
