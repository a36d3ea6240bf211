package preflight

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/cosim-go/cosim/runtime/plan"
	"github.com/cosim-go/cosim/topology"
	"github.com/cosim-go/cosim/topology/layout"
)

// A demand is what pools and region files take of one place when all of their pages are
// touched.
type demand struct {
	machines []string
	files    bool // region files, not pools
	size     layout.Size
	old      layout.Size // that files of an earlier session take there, which go before
}

// A place holds pools: a file system, the host's memory, a control group.
type place struct {
	inAll       string // completes "pool of machine "m0" needs 48 GiB, "; %s is the total
	now         string // the same for what is free
	hint        string // what to do where the total is too small
	total, free layout.Size
}

// judge compares a demand with a place. Larger than the total is refused, since a guest
// would die of SIGBUS in the middle of its work; larger than what is free is a warning,
// because pools are sparse and few guests touch all of their memory.
func (c *checker) judge(d demand, p place) {
	switch {
	case d.size > p.total && !c.opts.Overcommit:
		c.refuse(Problem{d.needs(p.inAll, p.total), p.hint})
	case d.size > p.total:
	case d.size > p.free+min(d.old, p.total-min(p.free, p.total)):
		problem := Problem{d.needs(p.now, p.free), "a guest that touches more dies; end other programs, or use less memory"}
		if c.opts.StrictMemory {
			c.refuse(problem)
		} else {
			c.warn(problem)
		}
	}
}

// needs says what is needed and what is there, in bytes where rounding would hide the
// difference.
func (d demand) needs(format string, have layout.Size) string {
	need, has := d.size.Human(), have.Human()
	if need == has {
		need, has = fmt.Sprintf("%d bytes", d.size), fmt.Sprintf("%d bytes", have)
	}
	who := fmt.Sprintf("machine %q needs %s", d.machines[0], need)
	what := "pool"
	if n := len(d.machines); n > 1 {
		who, what = fmt.Sprintf("%d machines need %s in sum", n, need), "pools"
	}
	if d.files {
		what = "memory"
	}
	return what + " of " + who + ", " + fmt.Sprintf(format, has)
}

// room compares the sum of all pools and region files with the file systems that they
// are on, and those on file systems in memory with the memory of the host and of the
// control groups too.
func (c *checker) room() {
	demands := demandsOf(c.plan.Launch.Machines)
	var inMemory demand
	for _, f := range fileSystemsOf(demands) {
		c.judge(f.demand, f.place())
		if f.memory {
			inMemory.add(f.demand)
		}
	}
	if inMemory.size == 0 {
		return
	}
	limits, err := memoryLimits(os.DirFS("/"))
	if err != nil {
		c.warn(Problem{Message: fmt.Sprintf("the memory of this host cannot be told: %v", err)})
	}
	for _, l := range limits {
		c.judge(inMemory, l)
	}
}

func (d *demand) add(more demand) {
	for _, m := range more.machines {
		if len(d.machines) == 0 || d.machines[len(d.machines)-1] != m {
			d.machines = append(d.machines, m)
		}
	}
	d.files = more.files && (d.size == 0 || d.files)
	d.old = sum(d.old, more.old)
	d.size = sum(d.size, more.size)
}

// sum adds up to the largest size there is.
func sum(a, b layout.Size) layout.Size {
	if b > layout.MaxSize-min(a, layout.MaxSize) {
		return layout.MaxSize
	}
	return a + b
}

// A file is a pool or a region file to be made.
type file struct {
	path string
	demand
}

// demandsOf lists the files of memory that the machines of this host need.
func demandsOf(machines []plan.Machine) []file {
	var list []file
	for i := range machines {
		m := &machines[i]
		if m.Placement != topology.LocalAgent {
			continue
		}
		pool := false
		for _, r := range m.Pool.Regions {
			if r.File == "" {
				pool = true
			} else {
				list = append(list, newFile(r.File, m.ID, r.Size, true))
			}
		}
		if pool {
			list = append(list, newFile(m.Pool.Path, m.ID, m.Pool.Size, false))
		}
	}
	return list
}

func newFile(path, machine string, size layout.Size, region bool) file {
	f := file{path, demand{machines: []string{machine}, files: region, size: size}}
	var st unix.Stat_t
	if unix.Lstat(path, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFREG {
		f.old = layout.Size(st.Blocks) * 512 // stat(2): blocks of 512 bytes
	}
	return f
}
