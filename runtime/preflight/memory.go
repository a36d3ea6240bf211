package preflight

import (
	"fmt"
	"io/fs"
	"math"
	"path"
	"strconv"
	"strings"

	"github.com/cosim-go/cosim/topology/layout"
)

// memoryLimits tells what memory there is for the pools: the host's, and the tightest
// of the control groups that this process is in. The file system begins at /.
func memoryLimits(root fs.FS) ([]place, error) {
	text, err := fs.ReadFile(root, "proc/meminfo")
	if err != nil {
		return nil, err
	}
	host := place{
		inAll: "this host has %s of memory in all", now: "this host has %s of memory free now",
		hint:  "use less memory, or --overcommit",
		total: kilobytes(string(text), "MemTotal:"), free: kilobytes(string(text), "MemAvailable:"),
	}
	if host.total == 0 {
		return nil, fmt.Errorf("/proc/meminfo has no MemTotal")
	}
	limits := []place{host}
	if group := tightest(root); group != nil {
		limits = append(limits, *group)
	}
	return limits, nil
}

// kilobytes reads a field of /proc/meminfo (proc(5)), which is in KiB, as bytes.
func kilobytes(text, field string) layout.Size {
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) >= 2 && f[0] == field {
			n, _ := strconv.ParseUint(f[1], 10, 54)
			return layout.Size(n) * layout.KiB
		}
	}
	return 0
}

// A hierarchy of control groups that limits memory, in version 1 or 2 (cgroups(7)).
type hierarchy struct {
	root, mount        string // the group that stands at the mount point, and where that is
	limit, used, cache string // names of files, and of a field of memory.stat
}

func v1(root, mount string) hierarchy {
	return hierarchy{root, mount, "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"}
}

func v2(root, mount string) hierarchy {
	return hierarchy{root, mount, "memory.max", "memory.current", "inactive_file"}
}

// tightest finds the smallest limit of this process's control groups and those above
// them; nil where there is none.
func tightest(root fs.FS) *place {
	groups, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return nil
	}
	mounts, err := fs.ReadFile(root, "proc/self/mountinfo")
	if err != nil {
		return nil
	}
	var least *place
	for line := range strings.Lines(string(groups)) {
		// hierarchy-ID:controllers:path; version 2 is "0::path"
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(f) != 3 {
			continue
		}
		h, ok := findHierarchy(string(mounts), f[0] == "0" && f[1] == "", f[1])
		if !ok {
			continue
		}
		for dir := h.dir(f[2]); ; dir = path.Dir(dir) {
			if limit := h.read(root, dir); limit != nil && (least == nil || limit.total < least.total) {
				least = limit
			}
			if dir == h.mount || len(dir) <= len(h.mount) {
				break
			}
		}
	}
	return least
}

// findHierarchy finds the mount of a hierarchy that has the memory controller.
func findHierarchy(mounts string, unified bool, controllers string) (hierarchy, bool) {
	if !unified && !hasMemory(controllers) {
		return hierarchy{}, false
	}
	for line := range strings.Lines(mounts) {
		// id parent major:minor root mount options... - type source super-options
		before, after, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " - ")
		f, g := strings.Fields(before), strings.Fields(after)
		switch {
		case !ok || len(f) < 5 || len(g) < 3:
		case unified && g[0] == "cgroup2":
			return v2(f[3], f[4]), true
		case !unified && g[0] == "cgroup" && hasMemory(g[2]):
			return v1(f[3], f[4]), true
		}
	}
	return hierarchy{}, false
}

func hasMemory(list string) bool { return strings.Contains(","+list+",", ",memory,") }

// dir is the directory of a group. One that does not stand below the mount point, as in
// a container, is the mount point.
func (h hierarchy) dir(group string) string {
	group = path.Clean("/" + group)
	if h.root == "/" {
		return path.Join(h.mount, group)
	}
	if rest, ok := strings.CutPrefix(group+"/", h.root+"/"); ok {
		return path.Join(h.mount, rest)
	}
	return h.mount
}

// read reads the limit of one group; nil where it has none.
func (h hierarchy) read(root fs.FS, dir string) *place {
	limit, ok := readNumber(root, dir, h.limit)
	if !ok || limit >= math.MaxInt64/2 { // version 1 writes a huge number for none
		return nil
	}
	p := &place{total: limit, free: limit, hint: "use less memory, raise the limit, or --overcommit"}
	p.inAll = "this control group may use %s in all"
	p.now = "this control group may use %s more now"
	if used, ok := readNumber(root, dir, h.used); ok {
		used -= min(used, h.reclaimable(root, dir))
		p.free = limit - min(used, limit)
	}
	return p
}

// reclaimable is the cache of files in a group's usage, which the kernel drops before a
// process goes short.
func (h hierarchy) reclaimable(root fs.FS, dir string) layout.Size {
	text, _ := fs.ReadFile(root, strings.TrimPrefix(path.Join(dir, "memory.stat"), "/"))
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == h.cache {
			n, _ := strconv.ParseUint(f[1], 10, 63)
			return layout.Size(n)
		}
	}
	return 0
}

func readNumber(root fs.FS, dir, name string) (layout.Size, bool) {
	text, err := fs.ReadFile(root, strings.TrimPrefix(path.Join(dir, name), "/"))
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 63) // "max" is no limit
	return layout.Size(n), err == nil
}
