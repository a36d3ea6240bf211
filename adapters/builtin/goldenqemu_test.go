package builtin_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cosim-go/cosim/adapters"
)

// TestGoldenStarts feeds the golden lines of QEMU to QEMU, stopped: each starts, its
// monitor answers, and it ends with 0 when told to. So a golden line cannot be wrong in
// silence.
//
// Requirements: D5, X6
func TestGoldenStarts(t *testing.T) {
	needQEMU(t)
	for _, path := range goldens(t) {
		t.Run(name(path), func(t *testing.T) {
			root := shortDir(t)
			g := loadGolden(t, path, root)
			for _, m := range g.machines {
				startMachine(t, g, m, root)
			}
		})
	}
}

// startMachine starts the QEMU processes of one machine from their golden lines.
func startMachine(t *testing.T, g *golden, m *adapters.Machine, root string) {
	t.Helper()
	var commands []adapters.Command
	for _, id := range g.ids {
		if strings.HasPrefix(id, m.Model.ID+"/") {
			commands = append(commands, moveFiles(g.commands[id], root))
		}
	}
	makeFiles(t, m, commands)

	pairs := channels{}
	defer pairs.close()
	var running []*process
	var monitors []*monitor
	for i, d := range m.Model.Devices {
		id := m.Model.ID + "/" + d.ID
		ends := pairs.ends(t, g.commands[id].FDs)
		if g.commands[id].Program.Name != qemu {
			continue
		}
		args := accepted(t, id, moved(g.lines(t, id), root))
		p := start(t, id, qemu, append(args, "-S"), ends)
		running = append(running, p)
		monitors = append(monitors, connect(t, p, m.Devices[i].QMP))
	}
	id := m.Model.ID + "/vhost"
	if g.commands[id].Program.Name == qemu {
		args := accepted(t, id, moved(g.lines(t, id), root))
		p := start(t, id, qemu, append(args, "-S"), pairs.ends(t, g.commands[id].FDs))
		pairs.close()
		running = append(running, p)
		monitors = append(monitors, connect(t, p, m.QMP))
	}
	for _, q := range slices.Backward(monitors) { // hosts before devices
		q.quit()
	}
	for _, p := range running {
		if status := p.exit(t); status != 0 {
			t.Errorf("%s ended with status %d; its output:\n%s", p.id, status, p.output)
		}
	}
}

// moved puts the paths of golden lines below another root, and takes out of them what
// depends on a host with KVM.
func moved(lines []string, root string) []string {
	args := make([]string, len(lines))
	for i, line := range lines {
		args[i] = strings.NewReplacer(goldenRoot+"/", root+"/", "/dev/shm/", root+"/shm/", "accel=kvm", "accel=tcg").Replace(line)
		if i > 0 && args[i-1] == "-cpu" && line == "host" {
			args[i] = "max"
		}
	}
	return args
}

func moveFiles(c adapters.Command, root string) adapters.Command {
	c.Files = slices.Clone(c.Files)
	for i, f := range c.Files {
		c.Files[i].Path = filepath.Join(root, "shm", filepath.Base(f.Path))
	}
	return c
}

// What QEMU 7.2 as distributed does not have, and how it says so.
var unknown = []struct{ argument, refusal string }{
	{`{"driver":"vfio-user-pci"`, `'vfio-user-pci' is not a valid device model name`},
	{`{"qom-type":"x-vfio-user-server"`, `invalid object type: x-vfio-user-server`},
}

// accepted takes those arguments out that this QEMU does not know, each after QEMU was
// seen to refuse exactly it.
func accepted(t *testing.T, id string, args []string) []string {
	t.Helper()
	for _, u := range unknown {
		at := slices.IndexFunc(args, func(a string) bool { return strings.HasPrefix(a, u.argument) })
		if at < 0 {
			continue
		}
		// Without descriptors, since a process that is refused must not eat its end.
		p := start(t, id, qemu, append(withoutProxies(args), "-S"), nil)
		if status := p.exit(t); status != 1 || !strings.HasSuffix(p.refusal(), ": "+u.refusal) {
			t.Errorf("%s ended with status %d and %q, want 1 and %q", id, status, p.refusal(), u.refusal)
		}
		args = slices.Clone(args)
		for at >= 0 {
			args = slices.Delete(args, at-1, at+1)
			at = slices.IndexFunc(args, func(a string) bool { return strings.HasPrefix(a, u.argument) })
		}
	}
	return args
}

func withoutProxies(args []string) []string {
	args = slices.Clone(args)
	for {
		at := slices.IndexFunc(args, func(a string) bool { return strings.HasPrefix(a, "x-pci-proxy-dev,") })
		if at < 0 {
			return args
		}
		args = slices.Delete(args, at-1, at+1)
	}
}
