// Package preflight looks for everything that would make a session fail, after it is
// planned and before anything is created: a session that is running, directories that
// cannot be made, disks in use, no room for the pools, limits of the process, a QEMU
// that lacks what the plan needs.
//
// [Check] finds all of it in one go. It starts a QEMU only to ask what it offers, and
// writes nothing but the answers, and these only where nothing is wrong.
package preflight

import (
	"context"
	"errors"
	"fmt"

	"github.com/cosim-go/cosim/runtime/disk"
	"github.com/cosim-go/cosim/runtime/plan"
	"github.com/cosim-go/cosim/runtime/session"
	"github.com/cosim-go/cosim/topology"
)

// A Problem is one finding.
type Problem struct {
	Message string // one line, lower case, no full stop
	Hint    string // what to do; may be empty
}

// A Report is what [Check] found.
type Report struct {
	Problems []Problem // a session with one of these must not run
	Warnings []Problem // what may go wrong
}

// Options of [Check]. The zero value, and nil, refuse pools that are larger than what
// holds them, and warn of those that are larger than what is free.
type Options struct {
	Overcommit   bool // pools may be larger than file system and memory
	StrictMemory bool // pools must not be larger than what is free now
}

// Check looks at the host for what a plan needs. The plan has nothing missing, and its
// machines are all local.
func Check(ctx context.Context, p *plan.Plan, opts *Options) Report {
	c := &checker{plan: p}
	if opts != nil {
		c.opts = *opts
	}
	c.session()
	c.room()
	c.limits()
	c.disks()
	c.qemu(ctx)
	return c.report
}

type checker struct {
	plan   *plan.Plan
	opts   Options
	report Report
}

func (c *checker) refuse(p ...Problem) { c.report.Problems = append(c.report.Problems, p...) }
func (c *checker) warn(p ...Problem)   { c.report.Warnings = append(c.report.Warnings, p...) }

// refuseErr takes an error over, with the hint that it may have.
func (c *checker) refuseErr(err error) {
	p := Problem{Message: err.Error()}
	var hinted interface{ Hint() string }
	if errors.As(err, &hinted) {
		p.Hint = hinted.Hint()
	}
	c.refuse(p)
}

// session looks for a session that is running in the run directory, and at the
// directories that are to be made.
func (c *checker) session() {
	s := c.plan.Launch.Session
	l := s.Paths()
	unusable := l.CheckDirs()
	for _, err := range unusable {
		c.refuse(Problem{err.Error(), "choose another place: --run-dir, --pool-dir, or XDG_RUNTIME_DIR for sockets"})
	}
	ids := make([]string, len(c.plan.Launch.Machines))
	for i := range c.plan.Launch.Machines {
		ids[i] = c.plan.Launch.Machines[i].ID
	}
	for _, err := range l.CheckPools(ids) {
		c.refuse(Problem{err.Error(), "choose another place with --pool-dir; or remove the file, if no session uses it"})
	}
	status, err := session.Inspect(l)
	switch {
	case err != nil && unusable != nil:
		// What keeps us from looking has been said.
	case err != nil:
		c.refuseErr(err)
	case status.Live:
		c.refuseErr(&session.LiveError{Name: s.Name, RunDir: s.RunDir, PID: status.PID})
	}
}

// disks looks for disks that other sessions use, and for overlays that would be smaller
// than what they lie over.
func (c *checker) disks() {
	machines := c.plan.Launch.Machines
	for _, err := range disk.Probe(machines) {
		c.refuseErr(err)
	}
	rebuilt := map[string]bool{}
	for i := range c.plan.Images {
		if image := &c.plan.Images[i]; image.State == plan.Absent || image.State == plan.Stale {
			rebuilt[image.Path] = true // its size is not known yet
		}
	}
	for i := range machines {
		for n := range machines[i].Disks {
			d := &machines[i].Disks[n]
			if rebuilt[d.Backing] || machines[i].Placement != topology.LocalAgent {
				continue
			}
			if err := disk.CheckSize(d); err != nil {
				c.refuse(Problem{
					Message: fmt.Sprintf("machine %q: %v", machines[i].ID, err),
					Hint:    "a disk says the format of its file, and a `size` that is no smaller",
				})
			}
		}
	}
}
