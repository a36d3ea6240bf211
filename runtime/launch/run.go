package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/cosim-go/cosim/runtime/disk"
	"github.com/cosim-go/cosim/runtime/plan"
	"github.com/cosim-go/cosim/runtime/session"
	"github.com/cosim-go/cosim/runtime/supervise"
)

// A run is one execution of a plan.
type run struct {
	plan    *plan.Plan
	opts    Options
	layout  session.Layout
	lock    *session.Lock
	disks   *disk.Held
	observe sync.Mutex // Observe is called by one goroutine at a time

	stateMu sync.Mutex
	state   *session.State
	saved   time.Time   // when session.json was written last
	later   *time.Timer // writes it again; nil where nothing has changed since
}

func newRun(p *plan.Plan, opts *Options) *run {
	r := &run{plan: p, layout: p.Launch.Session.Paths()}
	if opts != nil {
		r.opts = *opts
	}
	return r
}

func (r *run) tell(e Event) {
	if r.opts.Observe == nil {
		return
	}
	r.observe.Lock()
	defer r.observe.Unlock()
	r.opts.Observe(e)
}

func (r *run) notef(format string, args ...any) { r.tell(Event{Note: fmt.Sprintf(format, args...)}) }

// begin writes the session's records, before anything that they describe is made.
func (r *run) begin() error {
	state, err := session.NewState(r.layout, r.plan.Launch.Session.Topology, time.Now())
	if err != nil {
		return fmt.Errorf("describing the session: %w", err)
	}
	r.state = state
	write := r.plan.WriteJSON
	if r.opts.Text != nil {
		write = func(w io.Writer) error {
			_, err := w.Write(r.opts.Text)
			return err
		}
	}
	err = errors.Join(
		session.WriteState(r.layout.StateFile(), state),
		session.WriteFile(r.layout.PlanFile(), write),
		session.WriteLayout(r.layout.LayoutFile(), *r.plan.Launch.Layout()),
	)
	if err != nil {
		return err
	}
	return r.lock.Remember()
}

// execute makes what the processes need and runs them.
func (r *run) execute(ctx context.Context) (*supervise.Result, error) {
	if err := r.prepare(ctx); err != nil {
		return nil, err
	}
	dirs := []string{r.layout.RunDir, r.layout.SocketDir, r.layout.PoolDir}
	return supervise.Run(ctx, r.plan.Launch.Processes, &supervise.Options{
		Mark: r.layout.Mark(), Dirs: dirs, Env: r.opts.Env, Kill: r.opts.Kill, Logger: r.opts.Logger,
		Events: r.processEvent,
	})
}
