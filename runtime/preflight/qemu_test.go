package preflight

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cosim-go/cosim/runtime/internal/realtool"
	"github.com/cosim-go/cosim/runtime/plan"
)

func TestNeedsComeFromTheCommandLines(t *testing.T) {
	for name, tt := range map[string]struct {
		args []string
		want []string
	}{
		"nothing":        {[]string{"-device", "nvme,id=x-pci-proxy-dev", "-machine", "x-pci-proxy-dev"}, nil},
		"with commas":    {[]string{"-device", "x-pci-proxy-dev,id=a,fd=3", "-device", "x-pci-proxy-dev,id=b,fd=4"}, []string{`device "x-pci-proxy-dev"`}},
		"JSON":           {[]string{"-device", `{"driver":"vfio-user-pci","id":"a"}`}, []string{`device "vfio-user-pci"`}},
		"JSON object":    {[]string{"-object", `{"qom-type":"x-vfio-user-server","id":"a"}`, "-object", "x-remote-object,id=r,devid=d,fd=3"}, []string{`object "x-vfio-user-server"`, `object "x-remote-object"`}},
		"an offset":      {[]string{"-object", "memory-backend-file,id=r,offset=4096"}, []string{`property "offset" of a memory-backend-file`}},
		"a JSON offset":  {[]string{"-object", `{"qom-type":"memory-backend-file","offset":4096}`}, []string{`property "offset" of a memory-backend-file`}},
		"not an offset":  {[]string{"-object", "memory-backend-file,id=r,mem-path=/a,,offset=1", "-object", "iothread,offset=1"}, nil},
		"broken JSON":    {[]string{"-device", `{"driver":`}, nil},
		"no value":       {[]string{"-device"}, nil},
		"another option": {[]string{"-object", "x-pci-proxy-dev", "-device", "x-remote-object"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, n := range needsOf([]plan.Process{{ID: "m0/vhost", Kind: "qemu-vhost", Program: "/q", Args: tt.args}}) {
				got = append(got, n.feature.String())
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("needs = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestNeedsAreGroupedByBinary(t *testing.T) {
	args := []string{"-device", "x-pci-proxy-dev,fd=3"}
	needs := needsOf([]plan.Process{
		{ID: "m0/vhost", Kind: "qemu-vhost", Program: "/a", Args: args},
		{ID: "m1/vhost", Kind: "qemu-vhost", Program: "/a", Args: args},
		{ID: "m2/vhost", Kind: "mine", Program: "/opt/qemu-system-riscv64", Args: args},
		{ID: "m3/vhost", Kind: "mine", Program: "/a", Args: args}, // options of a program that is no QEMU
	})
	if len(needs) != 2 || !slices.Equal(needs[0].by, []string{"m0/vhost", "m1/vhost"}) || !slices.Equal(needs[1].by, []string{"m2/vhost"}) {
		t.Errorf("needs = %+v, want those of two binaries", needs)
	}
}

func TestTheRealQEMUAnswers(t *testing.T) {
	program := realtool.Path(t, "qemu-system-x86_64")
	o, err := ask(t.Context(), program)
	if err != nil {
		t.Fatal(err)
	}
	if o.parsed().less(version{6, 0}) {
		t.Errorf("version = %q, want 6.0 or later", o.Version)
	}
	for _, name := range []string{"nvme", "virtio-blk-pci", "virtio-blk", "lsi53c895a", "x-pci-proxy-dev"} {
		if !slices.Contains(o.Devices, name) {
			t.Errorf("device %q is not among the %d", name, len(o.Devices))
		}
	}
	for _, name := range []string{"x-remote-object", "memory-backend-file"} {
		if !slices.Contains(o.Objects, name) {
			t.Errorf("object %q is not among %q", name, o.Objects)
		}
	}
}

// fakeQEMU makes a program that answers as a QEMU of a version that offers nothing but
// what the multi-process form needs, and that counts its starts.
func fakeQEMU(t *testing.T, version string) (path, starts string) {
	t.Helper()
	dir := t.TempDir()
	path, starts = filepath.Join(dir, "qemu-system-x86_64"), filepath.Join(dir, "starts")
	script := `#!/bin/sh
echo x >>` + starts + `
case "$*" in
-version) echo "` + version + `" ;;
"-device help") printf 'Misc devices:\nname "x-pci-proxy-dev", bus PCI\nname "a \\"b\\", c", alias "d"\n' ;;
"-object help") printf 'List of user creatable objects:\n  x-remote-object\n' ;;
esac
`
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return path, starts
}

func checkQEMU(t *testing.T, lockDir string, processes ...plan.Process) Report {
	t.Helper()
	c := &checker{plan: &plan.Plan{Launch: plan.Launch{Env: plan.Env{DiskLockDir: lockDir}, Processes: processes}}}
	c.qemu(t.Context())
	return c.report
}

func vhost(program string, args ...string) plan.Process {
	return plan.Process{ID: "m0/vhost", Kind: "qemu-vhost", Program: program, Args: args}
}

func TestAQEMUThatLacksSomethingIsRefused(t *testing.T) {
	path, _ := fakeQEMU(t, "QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg)")
	device, server, offset := "vfio-user-pci,id=a", "x-vfio-user-server,id=s", "memory-backend-file,offset=1"
	r := checkQEMU(t, t.TempDir(), vhost(path, "-device", device, "-object", server, "-object", offset, "-device", "x-pci-proxy-dev"), vhost(path, "-device", device))
	wantReport(t, r, []string{
		`process "m0/vhost" and 1 more need the device "vfio-user-pci", which ` + path + ` (QEMU 7.2.22) does not have`,
		`process "m0/vhost" needs the object "x-vfio-user-server", which`,
		`process "m0/vhost" needs the property "offset" of a memory-backend-file, which`,
	}, nil)
	for i, want := range []string{"since 10.1; install that or a later one", "since 7.1, but this build has not; it has to be built with", "since 8.1; install"} {
		if !strings.Contains(r.Problems[i].Hint, want) {
			t.Errorf("hint = %q, want %q", r.Problems[i].Hint, want)
		}
	}
}

func TestAnswersAreKept(t *testing.T) {
	path, starts := fakeQEMU(t, "QEMU emulator version 10.1.0")
	lockDir := filepath.Join(t.TempDir(), "cache", "disk-locks")
	asked := func() int {
		text, _ := os.ReadFile(starts)
		return len(text) / 2
	}
	if r := checkQEMU(t, lockDir, vhost(path, "-device", "vfio-user-pci")); len(r.Problems) != 1 {
		t.Errorf("report = %+v, want a problem", r)
	}
	if _, err := os.Lstat(filepath.Dir(lockDir)); err == nil {
		t.Error("a refused session wrote its answers down")
	}
	for range 3 {
		wantReport(t, checkQEMU(t, lockDir, vhost(path, "-device", "x-pci-proxy-dev")), nil, nil)
	}
	if n := asked(); n != 6 {
		t.Errorf("the binary was started %d times, want 3 for each of two askings", n)
	}
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(path, later, later); err != nil {
		t.Fatal(err)
	}
	wantReport(t, checkQEMU(t, lockDir, vhost(path, "-device", "x-pci-proxy-dev")), nil, nil)
	if n := asked(); n != 9 {
		t.Errorf("the binary was started %d times, want it asked again after it changed", n)
	}
	if err := os.WriteFile(cacheFile(lockDir), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	wantReport(t, checkQEMU(t, lockDir, vhost(path, "-device", "x-pci-proxy-dev")), nil, nil)
	if n := asked(); n != 12 {
		t.Errorf("the binary was started %d times, want it asked again without a cache", n)
	}
}

func TestWhatIsNotKnownIsAWarning(t *testing.T) {
	stub, starts := fakeQEMU(t, "a stub")
	for program, want := range map[string]string{stub: "does not answer like QEMU", "/bin/false": "exited with status 1", "/nonexistent": "no such file"} {
		wantReport(t, checkQEMU(t, t.TempDir(), vhost(program, "-device", "vfio-user-pci", "-object", "x-remote-object")), nil, []string{want})
	}
	if text, _ := os.ReadFile(starts); len(text) != 2 {
		t.Errorf("the stub was started %d times, want once", len(text)/2)
	}
}

func TestNothingIsAskedWithoutNeed(t *testing.T) {
	path, starts := fakeQEMU(t, "QEMU emulator version 7.2.0")
	wantReport(t, checkQEMU(t, t.TempDir(), vhost(path, "-device", "nvme")), nil, nil)
	if _, err := os.Lstat(starts); err == nil {
		t.Error("the binary was started")
	}
}

func TestAnAnswerEndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if o, err := ask(ctx, "/bin/true"); err == nil {
		t.Errorf("ask = %v, want an error", o)
	}
}
