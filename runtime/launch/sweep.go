package launch

import (
	"errors"
	"io/fs"
	"os"

	"github.com/cosim-go/cosim/runtime/session"
	"github.com/cosim-go/cosim/topology"
)

// sweepBefore removes what an earlier session of this run directory left, and says so.
func (r *run) sweepBefore() error {
	swept, err := r.lock.Sweep(session.SweepOptions{})
	for _, p := range swept.Killed {
		r.notef("killed a process that the session before left: %s (pid %d)", p.ID, p.PID)
	}
	for _, path := range swept.Removed {
		r.notef("removed what the session before left: %s", path)
	}
	return err
}

// sweepAfter removes what this session made, and gives its disks free.
func (r *run) sweepAfter() error {
	_, err := r.lock.Sweep(session.SweepOptions{Keep: r.opts.Keep})
	if r.opts.Keep {
		err = errors.Join(err, r.dropSnapshots())
	}
	if r.disks != nil {
		err = errors.Join(err, r.disks.Release())
	}
	return err
}

// dropSnapshots removes the overlays of snapshot disks, whose writes are thrown away
// even where the session keeps its other files.
func (r *run) dropSnapshots() error {
	var errs []error
	for _, m := range r.plan.Launch.Machines {
		for _, d := range m.Disks {
			if d.Mode != topology.Snapshot || d.Target == d.Backing {
				continue
			}
			if err := os.Remove(d.Target); err != nil && !errors.Is(err, os.ErrNotExist) {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}

// Clean removes everything of a session that is not running: processes that a killed
// supervisor left, pools, overlays, sockets, records, and what is empty then. The error
// is a [*session.LiveError] where the session is running, wraps fs.ErrNotExist where there
// is none, and is a [*RefusedError] where the run directory cannot be used.
func Clean(l session.Layout) (session.Swept, error) {
	lock, err := session.AcquireExisting(l)
	var live *session.LiveError
	switch {
	case errors.As(err, &live), errors.Is(err, fs.ErrNotExist):
		return session.Swept{}, err
	case err != nil:
		return session.Swept{}, refusedBy(err)
	}
	defer lock.Release()
	swept, err := lock.Sweep(session.SweepOptions{Records: true})
	return swept, refusedUnread(err)
}

// refusedUnread makes a refusal of the error of a sweep that removed nothing, since it
// could not know what was left.
func refusedUnread(err error) error {
	var unreadable *session.UnreadableError
	if errors.As(err, &unreadable) {
		return refusedBy(unreadable)
	}
	return err
}
