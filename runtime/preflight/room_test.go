package preflight

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/sys/unix"

	"github.com/cosim-go/cosim/runtime/internal/leaktest"
	"github.com/cosim-go/cosim/runtime/plan"
	"github.com/cosim-go/cosim/topology"
	"github.com/cosim-go/cosim/topology/layout"
)

const gib = layout.GiB

// wantReport compares messages with what they have to contain, one by one.
func wantReport(t *testing.T, r Report, problems, warnings []string) {
	t.Helper()
	for what, pair := range map[string]struct {
		got  []Problem
		want []string
	}{"problems": {r.Problems, problems}, "warnings": {r.Warnings, warnings}} {
		if len(pair.got) != len(pair.want) {
			t.Errorf("%s = %q, want %q", what, pair.got, pair.want)
			continue
		}
		for i, want := range pair.want {
			if !strings.Contains(pair.got[i].Message, want) {
				t.Errorf("%s[%d] = %q, want %q", what, i, pair.got[i].Message, want)
			}
		}
	}
}

// Requirement: X5
func TestJudge(t *testing.T) {
	shm := (&fileSystem{mount: "/dev/shm", total: 47 * gib / 2, free: 12 * gib}).place()
	one := demand{machines: []string{"m0"}}
	const (
		tooLarge = `pool of machine "m0" needs 48 GiB, /dev/shm holds 23.5 GiB in all`
		notFree  = `pool of machine "m0" needs 20 GiB, /dev/shm has 12 GiB free now`
	)
	for name, tt := range map[string]struct {
		opts               Options
		size, old          layout.Size
		problems, warnings []string
	}{
		"fits":                            {size: 12 * gib},
		"larger than all":                 {size: 48 * gib, problems: []string{tooLarge}},
		"larger than all, overcommitted":  {opts: Options{Overcommit: true}, size: 48 * gib},
		"larger than free":                {size: 20 * gib, warnings: []string{notFree}},
		"larger than free, strict":        {opts: Options{StrictMemory: true}, size: 20 * gib, problems: []string{notFree}},
		"larger than free, overcommitted": {opts: Options{Overcommit: true}, size: 20 * gib, warnings: []string{notFree}},
		"in the room of an old pool":      {size: 20 * gib, old: 8 * gib},
		"a byte too large":                {size: 47*gib/2 + 1, problems: []string{"needs 25232932865 bytes, /dev/shm holds 25232932864 bytes in all"}},
		"as large as can be":              {size: layout.MaxSize, old: layout.MaxSize, problems: []string{"needs 8192 PiB"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := &checker{opts: tt.opts}
			d := one
			d.size, d.old = tt.size, tt.old
			c.judge(d, shm)
			wantReport(t, c.report, tt.problems, tt.warnings)
			for _, p := range append(c.report.Problems, c.report.Warnings...) {
				if p.Hint == "" {
					t.Errorf("%q has no hint", p.Message)
				}
			}
		})
	}
}

func TestDemandsAreSummedUp(t *testing.T) {
	dir := t.TempDir()
	machine := func(id string, size layout.Size, files ...layout.Size) plan.Machine {
		m := plan.Machine{ID: id, Placement: topology.LocalAgent, Pool: plan.Pool{Path: dir + "/p/" + id + ".pool", Size: size}}
		for i, s := range files {
			m.Pool.Regions = append(m.Pool.Regions, layout.Region{Name: fmt.Sprint(i), Size: s, File: fmt.Sprintf("%s/q/%s-%d", dir, id, i)})
		}
		if files == nil {
			m.Pool.Regions = []layout.Region{{Name: "memory", Size: size}}
		}
		return m
	}
	remote := machine("far", 100*gib)
	remote.Placement = "agent"
	for name, tt := range map[string]struct {
		machines []plan.Machine
		want     string
	}{
		"one pool":         {[]plan.Machine{machine("m0", gib), remote}, `pool of machine "m0" needs 1 GiB`},
		"two pools":        {[]plan.Machine{machine("m0", gib), machine("m1", 2*gib)}, "pools of 2 machines need 3 GiB in sum"},
		"region files":     {[]plan.Machine{machine("m0", 9*gib, gib, 2*gib)}, `memory of machine "m0" needs 3 GiB`},
		"of two machines":  {[]plan.Machine{machine("m0", 9*gib, gib), machine("m1", 9*gib, gib)}, "memory of 2 machines need 2 GiB in sum"},
		"both":             {[]plan.Machine{machine("m0", 9*gib, gib, gib), machine("m1", gib)}, "pools of 2 machines need 3 GiB in sum"},
		"more than can be": {[]plan.Machine{machine("m0", layout.MaxSize-1), machine("m1", layout.MaxSize-1)}, "pools of 2 machines need 8192 PiB in sum"},
	} {
		t.Run(name, func(t *testing.T) {
			list := fileSystemsOf(demandsOf(tt.machines))
			if len(list) != 1 {
				t.Fatalf("%d file systems, want one", len(list))
			}
			if got := list[0].needs("%s", 1); !strings.HasPrefix(got, tt.want+", ") {
				t.Errorf("needs = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestFileSystemsAreFoundByTheirDirectories(t *testing.T) {
	shm := leaktest.ShmDir(t)
	pool := filepath.Join(shm, "m0.pool")
	if err := os.WriteFile(pool, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	list := fileSystemsOf([]file{
		newFile(pool, "m0", gib, false), newFile(shm+"/not/there/m1.pool", "m1", gib, false), newFile("/proc/none/m2.pool", "m2", gib, false),
	})
	if len(list) != 2 || list[0].mount != "/dev/shm" || !list[0].memory || list[0].size != 2*gib || list[0].old != layout.MiB {
		t.Fatalf("file systems = %+v, want /dev/shm with two pools", list)
	}
	var fs unix.Statfs_t
	if err := unix.Statfs("/dev/shm", &fs); err != nil {
		t.Fatal(err)
	}
	if want := layout.Size(fs.Blocks) * layout.Size(fs.Bsize); list[0].total != want || list[0].free > want || list[0].free == 0 {
		t.Errorf("total, free = %d, %d, want %d", list[0].total, list[0].free, want)
	}
	if list[1].mount != "/proc" || list[1].memory {
		t.Errorf("file system = %+v, want /proc", list[1])
	}
}

func TestCapacity(t *testing.T) {
	for name, tt := range map[string]struct {
		fs          unix.Statfs_t
		total, free layout.Size
	}{
		"blocks":         {unix.Statfs_t{Blocks: 10, Bavail: 4, Bsize: 1 << 20, Frsize: 4096}, 40960, 16384},
		"no unit":        {unix.Statfs_t{Blocks: 10, Bavail: 4, Bsize: 512}, 5120, 2048},
		"no limit":       {unix.Statfs_t{Bsize: 4096}, layout.MaxSize, layout.MaxSize},
		"a huge number":  {unix.Statfs_t{Blocks: 1<<64 - 1, Bavail: 1<<64 - 1, Frsize: 4096}, layout.MaxSize, layout.MaxSize},
		"a strange unit": {unix.Statfs_t{Blocks: 1, Bavail: 1, Frsize: -1}, layout.MaxSize, layout.MaxSize},
	} {
		if total, free := capacity(&tt.fs); total != tt.total || free != tt.free {
			t.Errorf("%s: capacity = %d, %d, want %d, %d", name, total, free, tt.total, tt.free)
		}
	}
}

const meminfo = "MemTotal:       24684092 kB\nMemFree:         1000000 kB\nMemAvailable:   12582912 kB\n"

const (
	mountV1 = "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
	mountV2 = "35 31 0:32 / /sys/fs/cgroup rw,relatime shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
)

// Requirement: X5
func TestMemoryLimits(t *testing.T) {
	for name, tt := range map[string]struct {
		files       map[string]string // below /sys/fs/cgroup
		groups      string
		mounts      string
		total, free layout.Size // of the control group; 0 without one
	}{
		"none": {groups: "", mounts: ""},
		"version 2": {
			groups: "0::/a/b\n", mounts: mountV2, total: 8 * gib, free: 6 * gib,
			files: map[string]string{"a/b/memory.max": "max", "a/memory.max": "8589934592\n", "a/memory.current": "3221225472\n", "a/memory.stat": "anon 7\ninactive_file 1073741824\n"},
		},
		"version 2, the tightest above": {
			groups: "0::/a/b\n", mounts: mountV2, total: 4 * gib, free: 4 * gib,
			files: map[string]string{"a/b/memory.max": "8589934592", "a/memory.max": "4294967296"},
		},
		"version 2, the tightest below": {
			groups: "0::/a/b\n", mounts: mountV2, total: 4 * gib, free: 4 * gib,
			files: map[string]string{"a/b/memory.max": "4294967296", "a/memory.max": "8589934592"},
		},
		"version 2, more cache than use": {
			groups: "0::/\n", mounts: mountV2, total: 8 * gib, free: 8 * gib,
			files: map[string]string{"memory.max": "8589934592", "memory.current": "1", "memory.stat": "inactive_file 4096\n"},
		},
		"version 1": {
			groups: "9:name=systemd:/\n4:memory:/p\n0::/\n", mounts: mountV1, total: 2 * gib, free: gib,
			files: map[string]string{
				"memory/memory.limit_in_bytes": "9223372036854771712\n", "memory/p/memory.limit_in_bytes": "2147483648\n",
				"memory/p/memory.usage_in_bytes": "2147483648\n", "memory/p/memory.stat": "inactive_file 5\ntotal_inactive_file 1073741824\n",
			},
		},
		"version 1 without a limit": {
			groups: "4:cpu,memory:/\n", mounts: mountV1, files: map[string]string{"memory/memory.limit_in_bytes": "9223372036854771712\n"},
		},
		"in a container, below the group mounted": {
			groups: "0::/docker/x/sub\n", mounts: strings.Replace(mountV2, " / ", " /docker/x ", 1), total: gib, free: gib,
			files: map[string]string{"sub/memory.max": "1073741824"},
		},
		"in a container, beside the group mounted": {
			groups: "0::/docker/xy\n", mounts: strings.Replace(mountV2, " / ", " /docker/x ", 1), total: gib, free: gib,
			files: map[string]string{"memory.max": "1073741824"},
		},
		"outside its name space": {
			groups: "0::/../other\n", mounts: mountV2, total: gib, free: gib, files: map[string]string{"memory.max": "1073741824"},
		},
		"nonsense": {groups: "x\n:\n0::\n", mounts: "x\n - \na b c d e - f\n"},
	} {
		t.Run(name, func(t *testing.T) {
			root := fstest.MapFS{
				"proc/meminfo": {Data: []byte(meminfo)}, "proc/self/cgroup": {Data: []byte(tt.groups)}, "proc/self/mountinfo": {Data: []byte(tt.mounts)},
			}
			for name, text := range tt.files {
				root["sys/fs/cgroup/"+name] = &fstest.MapFile{Data: []byte(text)}
			}
			limits, err := memoryLimits(root)
			if err != nil {
				t.Fatal(err)
			}
			if limits[0].total != 24684092*layout.KiB || limits[0].free != 12*gib {
				t.Errorf("host = %+v", limits[0])
			}
			if tt.total == 0 {
				if len(limits) != 1 {
					t.Errorf("control group = %+v, want none", limits[1])
				}
				return
			}
			if len(limits) != 2 || limits[1].total != tt.total || limits[1].free != tt.free {
				t.Errorf("limits = %+v, want %d, %d free", limits[1:], tt.total, tt.free)
			}
		})
	}
}

func TestMemoryThatCannotBeTold(t *testing.T) {
	for name, root := range map[string]fstest.MapFS{"no file": {}, "no field": {"proc/meminfo": {Data: []byte("MemFree: 1 kB\n")}}} {
		if limits, err := memoryLimits(root); err == nil {
			t.Errorf("%s: memoryLimits = %v, want an error", name, limits)
		}
	}
	limits, err := memoryLimits(os.DirFS("/"))
	if err != nil || limits[0].total < layout.MiB || limits[0].free > limits[0].total {
		t.Errorf("memoryLimits of this host = %+v, %v", limits, err)
	}
}

func TestOpenFiles(t *testing.T) {
	l := &plan.Launch{
		Processes: make([]plan.Process, 10),
		Machines:  []plan.Machine{{Disks: []plan.Disk{{Lock: plan.Lock{Path: "a"}}, {Lock: plan.Lock{Path: "a"}}, {Lock: plan.Lock{Path: "b"}}}}},
	}
	if p := openFiles(l, 94); p != nil {
		t.Errorf("openFiles = %v, want none", p)
	}
	if p := openFiles(l, 93); len(p) != 1 || p[0].Message != "10 processes need 94 open files, the limit is 93" {
		t.Errorf("openFiles = %v, want a problem", p)
	}
}

func TestLockedMemory(t *testing.T) {
	l := &plan.Launch{
		Machines: []plan.Machine{{ID: "m0", Pool: plan.Pool{Size: gib}}},
		Processes: []plan.Process{
			{ID: "m0/vhost", Machine: "m0", Args: []string{"-overcommit", "cpu-pm=off,mem-lock=on"}},
			{ID: "m0/dev", Machine: "m0", Args: []string{"mem-lock=on", "-overcommit"}},
		},
	}
	if p := lockedMemory(l, uint64(gib)); p != nil {
		t.Errorf("lockedMemory = %v, want none", p)
	}
	if p := lockedMemory(l, 1<<16); len(p) != 1 || p[0].Message != `process "m0/vhost" locks 1 GiB of memory, the limit is 64 KiB` {
		t.Errorf("lockedMemory = %v, want a problem", p)
	}
}
