package launch

import (
	"context"
	"errors"
	"fmt"

	"github.com/cosim-go/cosim/runtime/plan"
	"github.com/cosim-go/cosim/runtime/preflight"
	"github.com/cosim-go/cosim/runtime/supervise"
	"github.com/cosim-go/cosim/topology"
)

// A hinter is an error that knows what to do about it.
type hinter interface {
	error
	Hint() string
}

// refusedBy turns an error that says that nothing was created into a refusal, with the
// hints that it holds.
func refusedBy(err error) error {
	var problems []Problem
	for _, e := range flatten(err) {
		p := Problem{Message: e.Error()}
		var h hinter
		if errors.As(e, &h) {
			p.Hint = h.Hint()
		}
		problems = append(problems, p)
	}
	return &RefusedError{Problems: problems}
}

// flatten lists the errors that errors.Join put together.
func flatten(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var list []error
	for _, e := range joined.Unwrap() {
		list = append(list, flatten(e)...)
	}
	return list
}

// refuse looks for everything that speaks against the run, and creates nothing.
func (r *run) refuse(ctx context.Context) error {
	if problems := refuseRemote(r.plan); problems != nil {
		return &RefusedError{Problems: problems}
	}
	if problems := refuseMissing(r.plan); problems != nil {
		return &RefusedError{Problems: problems}
	}
	if err := supervise.Check(r.plan.Launch.Processes); err != nil {
		return refusedBy(err)
	}
	report := preflight.Check(ctx, r.plan, &preflight.Options{Overcommit: r.opts.Overcommit, StrictMemory: r.opts.StrictMemory})
	if len(report.Problems) > 0 {
		problems := make([]Problem, len(report.Problems))
		for i, p := range report.Problems {
			problems[i] = Problem(p)
		}
		return &RefusedError{Problems: problems}
	}
	for _, w := range report.Warnings {
		r.tell(Event{Warning: w.Message, Hint: w.Hint})
	}
	return nil
}

// refuseRemote names the machines that are placed on other hosts.
func refuseRemote(p *plan.Plan) []Problem {
	var problems []Problem
	for _, m := range p.Launch.Machines {
		if m.Placement != topology.LocalAgent {
			problems = append(problems, Problem{
				Message: fmt.Sprintf("machine %q is placed on agent %q, and cosim runs only what is on this host", m.ID, m.Placement),
				Hint:    "remove its `placement`, or write `placement: {agent: local}`",
			})
		}
	}
	return problems
}

// refuseMissing names what the host lacks, as the plan tells. What has been put there
// since is not in the plan, which therefore has to be made again.
func refuseMissing(p *plan.Plan) []Problem {
	var problems []Problem
	for _, m := range p.Launch.Missing {
		problems = append(problems, Problem{
			Message: fmt.Sprintf("%s %q was not there when the plan was made, needed by %s", m.What, m.Name, plan.Few(m.NeededBy)),
			Hint:    m.Hint() + "; then make a new plan",
		})
	}
	return problems
}
