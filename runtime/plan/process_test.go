package plan_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/adapters"
	"github.com/cosim-go/cosim/runtime/plan"
	"github.com/cosim-go/cosim/runtime/session"
)

// Requirement: X3. A plan has all that a process is started, watched and stopped with,
// from its kind and from what is written for it.
func TestAProcessHasWhatItsKindAndItsEntrySay(t *testing.T) {
	p := made(t, `version: 1
kinds:
  host:
    role: vhost
    program: host-sim
    args: [kind]
    env: {OF_KIND: "{{machine.id}}", OF_BOTH: kind}
    ready: {log: "^up$"}
    stop: {signal: INT, grace: 2s}
machines:
  - id: m
    vhost:
      kind: host
      memory: 4M
      args: [entry]
      env: {OF_BOTH: entry}
      timeout: 1m30s
      expect: {pass: "^PASS", fail: "^FAIL"}
`, newHost("host-sim"))
	require.Len(t, p.Launch.Processes, 1)
	got := p.Launch.Processes[0]
	require.Equal(t, "/bin/host-sim", got.Program)
	require.Equal(t, []string{"kind", "entry"}, got.Args)
	require.Equal(t, map[string]string{"OF_KIND": "m", "OF_BOTH": "entry"}, got.Env)
	require.Equal(t, "/w", got.Dir)
	require.Equal(t, "/w/.cosim/top/m/vhost.log", got.Log)
	require.Equal(t, adapters.Ready{Log: "^up$"}, got.Ready)
	require.Equal(t, "90s", got.Timeout)
	require.Equal(t, &plan.Expect{Log: got.Log, Pass: "^PASS", Fail: "^FAIL"}, got.Expect)
	require.Equal(t, adapters.Stop{Signal: "INT", Grace: "2s"}, got.Stop)
	require.Nil(t, got.Console, "a template vhost has no serial line")
}

// Requirement: X3. The guest of a QEMU has its verdict and its console on the serial log.
func TestAQEMUHasItsVerdictOnTheSerialLog(t *testing.T) {
	p := made(t, `version: 1
machines:
  - {id: m, vhost: {kind: qemu-vhost, memory: 64M, params: {accel: tcg}, expect: {pass: PASS}}}
`, newHost("qemu-system-x86_64"))
	got := p.Launch.Process("m/vhost")
	require.Equal(t, &plan.Expect{Log: "/w/.cosim/top/m/serial.log", Pass: "PASS"}, got.Expect)
	require.Equal(t, &plan.Console{Socket: "/w/.cosim/top/m/serial.sock", Log: "/w/.cosim/top/m/serial.log"}, got.Console)
	require.Equal(t, adapters.Ready{QMP: "/w/.cosim/top/m/qmp.sock"}, got.Ready)
	require.Equal(t, "/w/.cosim/top/m/qmp.sock", got.Stop.QMP)
}

// Requirements: X3, L1. The pool of a machine is in the plan with every region of its devices.
func TestAPlanHasThePoolsRegions(t *testing.T) {
	p := made(t, kinds+"machines:\n  - {id: m, vhost: {kind: host, memory: 4M}, devices: [{id: n, kind: nic, count: 2}]}\n", newHost("host-sim", "nic-sim"))
	pool := p.Launch.Machines[0].Pool
	require.Equal(t, "/dev/shm/cosim-top-"+session.Hash("/w/.cosim/top")+"/m.pool", pool.Path)
	require.EqualValues(t, 8<<20, pool.Size)
	var names []string
	var offsets []uint64
	for _, r := range pool.Regions {
		names, offsets = append(names, r.Name), append(offsets, uint64(r.Offset))
	}
	require.Equal(t, []string{"memory", "n0.bar", "n1.bar"}, names)
	require.Equal(t, []uint64{0, 4 << 20, 6 << 20}, offsets)
}

// Requirements: X1, X3. A plan tells the facts of the host that it was made for, and the
// layout that it leads to.
func TestAPlanHasTheFactsOfItsHost(t *testing.T) {
	in := input(t, kinds+"machines:\n  - {id: m, vhost: {kind: host, memory: 4M}}\n", newHost("host-sim"))
	in.Env.Path = []string{"/bin", "/opt/sim/bin"}
	in.Env.DiskLockDir = "/var/locks"
	p, list := plan.Make(in)
	require.NoError(t, list.Err())
	require.Equal(t, plan.Env{PageSize: 4096, Path: []string{"/bin", "/opt/sim/bin"}, DiskLockDir: "/var/locks"}, p.Launch.Env)
	l := p.Launch.Layout()
	require.Equal(t, p.Launch.Env.PageSize, l.PageSize)
	require.Equal(t, p.Launch.Machines[0].Pool.Path, l.Machines[0].Pool)
	require.Equal(t, p.Launch.Machines[0].Pool.Size, l.Machines[0].Size)
}

// Requirement: X3. A recipe stands in the plan as it is written, its paths absolute.
func TestAPlanHasTheRecipes(t *testing.T) {
	p := made(t, kinds+`
machines:
  - id: m
    vhost:
      kind: host
      memory: 4M
      boot:
        kernel:
          path: img/kernel
          recipe: {program: make-kernel, args: [-x, "2"], env: {A: b}, dir: src, inputs: [src, /etc/config], timeout: 90s}
`, &fakeHost{
		programs: []string{"host-sim", "make-kernel"},
		files:    map[string]plan.State{"/w/src": plan.Ready, "/etc/config": plan.Ready}, links: map[string]string{}, asked: map[string]int{},
	})
	require.Len(t, p.Images, 1)
	got := *p.Images[0].Recipe
	require.NotEmpty(t, got.Digest)
	got.Digest = ""
	require.Equal(t, plan.Recipe{
		Program: "/bin/make-kernel", Args: []string{"-x", "2"}, Env: map[string]string{"A": "b"}, Dir: "/w/src",
		Inputs: []string{"/w/src", "/etc/config"}, Timeout: "90s",
	}, got)
}
