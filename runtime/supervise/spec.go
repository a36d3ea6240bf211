package supervise

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cosim-go/cosim/adapters"
	"github.com/cosim-go/cosim/runtime/plan"
	"github.com/cosim-go/cosim/topology"
)

// A spec is a process of the plan with its texts read.
type spec struct {
	plan.Process
	timeout, grace time.Duration
	signal         unix.Signal
	readyLog       *regexp.Regexp // nil where no line is waited for
	pass, fail     *regexp.Regexp // nil where nothing is expected
}

// parse reads the processes of a plan, and finds everything that would keep them from
// being run in an order: a plan may have been edited by hand.
func parse(procs []plan.Process) ([]*spec, error) {
	specs := make([]*spec, len(procs))
	var problems []error
	for i := range procs {
		s, err := parseProcess(&procs[i])
		if err != nil {
			problems = append(problems, fmt.Errorf("process %q: %w", procs[i].ID, err))
		}
		specs[i] = s
	}
	problems = append(problems, checkOrder(procs), checkVhosts(procs), checkChannels(procs))
	return specs, errors.Join(problems...)
}

// Check reports everything in the processes of a plan that would keep [Run] from running
// them: a plan may have been edited by hand. It starts nothing.
func Check(procs []plan.Process) error {
	_, err := parse(procs)
	return err
}

func parseProcess(p *plan.Process) (*spec, error) {
	s := &spec{Process: *p}
	var problems []error
	note := func(what string, err error) {
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", what, err))
		}
	}
	var err error
	s.timeout, err = time.ParseDuration(p.Timeout)
	note("timeout", err)
	s.grace, err = time.ParseDuration(p.Stop.Grace)
	note("stop.grace", err)
	if s.signal = unix.SignalNum("SIG" + p.Stop.Signal); s.signal == 0 {
		problems = append(problems, fmt.Errorf("stop.signal: unknown signal %q", p.Stop.Signal))
	}
	s.readyLog, err = compile(p.Ready.Log)
	note("ready.log", err)
	if p.Expect != nil {
		s.pass, err = compile(p.Expect.Pass)
		note("expect.pass", err)
		s.fail, err = compile(p.Expect.Fail)
		note("expect.fail", err)
	}
	if !filepath.IsAbs(p.Program) {
		problems = append(problems, fmt.Errorf("program %q is not an absolute path", p.Program))
	}
	if !filepath.IsAbs(p.Log) {
		problems = append(problems, fmt.Errorf("log %q is not an absolute path", p.Log))
	}
	return s, errors.Join(problems...)
}

func compile(expr string) (*regexp.Regexp, error) {
	if expr == "" {
		return nil, nil
	}
	return regexp.Compile(expr)
}

// checkOrder wants each process behind all that it depends on, which excludes cycles.
func checkOrder(procs []plan.Process) error {
	seen := map[string]bool{}
	var problems []error
	for _, p := range procs {
		for _, dep := range p.DependsOn {
			if !seen[dep] {
				problems = append(problems, fmt.Errorf("process %q depends on %q, which does not stand before it", p.ID, dep))
			}
		}
		if seen[p.ID] {
			problems = append(problems, fmt.Errorf("process %q stands there twice", p.ID))
		}
		seen[p.ID] = true
	}
	return errors.Join(problems...)
}

// checkVhosts wants one vhost for each machine.
func checkVhosts(procs []plan.Process) error {
	vhosts := map[string]int{}
	var problems []error
	for _, p := range procs {
		switch p.Role {
		case topology.RoleVhost:
			vhosts[p.Machine]++
		case topology.RoleDevice:
			vhosts[p.Machine] += 0
		default:
			problems = append(problems, fmt.Errorf("process %q has the unknown role %q", p.ID, p.Role))
		}
	}
	for _, id := range slices.Sorted(maps.Keys(vhosts)) {
		if n := vhosts[id]; n != 1 {
			problems = append(problems, fmt.Errorf("machine %q has %d vhosts, not one", id, n))
		}
	}
	return errors.Join(problems...)
}

// checkChannels wants each channel in exactly two processes, at numbers of their own.
func checkChannels(procs []plan.Process) error {
	users := map[string][]string{}
	var problems []error
	for _, p := range procs {
		numbers := map[int]bool{}
		for _, fd := range p.FDs {
			if fd.Number < adapters.FirstFD || fd.Number > maxFD || numbers[fd.Number] {
				problems = append(problems, fmt.Errorf("process %q cannot inherit a descriptor as number %d", p.ID, fd.Number))
			}
			numbers[fd.Number] = true
			users[fd.Channel] = append(users[fd.Channel], p.ID)
		}
	}
	for _, channel := range slices.Sorted(maps.Keys(users)) {
		if ids := users[channel]; len(ids) != 2 || ids[0] == ids[1] {
			problems = append(problems, fmt.Errorf("channel %q does not join two processes: %q", channel, ids))
		}
	}
	return errors.Join(problems...)
}

// maxFD is far above what a vhost with the most devices needs (1024 and three).
const maxFD = 4096
