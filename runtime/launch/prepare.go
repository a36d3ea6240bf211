package launch

import (
	"context"
	"fmt"

	"github.com/cosim-go/cosim/runtime/disk"
	"github.com/cosim-go/cosim/runtime/image"
	"github.com/cosim-go/cosim/runtime/pool"
	"github.com/cosim-go/cosim/runtime/session"
)

// prepare makes everything that the processes need, in an order in which each step can
// rely on those before it. What it made is removed by the sweep that follows a failure;
// finished images stay.
func (r *run) prepare(ctx context.Context) error {
	if err := r.lockDisks(); err != nil {
		return err
	}
	if err := r.images(ctx); err != nil {
		return err
	}
	ids := make([]string, len(r.plan.Launch.Machines))
	for i, m := range r.plan.Launch.Machines {
		ids[i] = m.ID
	}
	if err := r.lock.MakeMachineDirs(ids); err != nil {
		return err
	}
	if err := r.lock.MakeSocketDir(); err != nil {
		return err
	}
	if err := r.pools(); err != nil {
		return err
	}
	return r.overlays(ctx)
}

func (r *run) lockDisks() error {
	held, err := disk.Acquire(r.plan.Launch.Machines, r.layout.Name)
	if err != nil {
		return refusedBy(err)
	}
	r.disks = held
	return nil
}

// pools makes the machines' memory: sparse files of their full size, in the pool
// directory or, for regions with files of their own, beside it.
func (r *run) pools() error {
	if err := r.lock.MakePoolDir(); err != nil {
		return err
	}
	for _, m := range r.plan.Launch.Machines {
		inPool := false
		for _, region := range m.Pool.Regions {
			if region.File == "" {
				inPool = true
				continue
			}
			if err := pool.Create(region.File, region.Size); err != nil {
				return fmt.Errorf("memory of region %q of machine %q: %w", region.Name, m.ID, err)
			}
		}
		if inPool {
			if err := pool.Create(m.Pool.Path, m.Pool.Size); err != nil {
				return fmt.Errorf("pool of machine %q: %w", m.ID, err)
			}
		}
	}
	return nil
}

func (r *run) overlays(ctx context.Context) error {
	for _, m := range r.plan.Launch.Machines {
		for i := range m.Disks {
			if !disk.NeedsOverlay(&m.Disks[i]) {
				continue
			}
			if err := disk.CreateOverlay(ctx, &m.Disks[i]); err != nil {
				return fmt.Errorf("overlay of disk %q of machine %q: %w", m.Disks[i].ID, m.ID, err)
			}
		}
	}
	return nil
}

// images brings every artifact into the state that the processes need.
func (r *run) images(ctx context.Context) error {
	opts := &image.Options{
		Workspace: r.layout.Workspace, Session: r.layout.Name,
		Env: append(r.opts.Env[:len(r.opts.Env):len(r.opts.Env)], session.MarkVariable+"="+r.layout.Mark()),
		Progress: func(e image.Event) {
			switch {
			case e.Step != image.Kept:
				r.notef("image %s: %s", e.Path, imageStep(e))
			case e.Reason != "":
				r.tell(Event{Warning: "image " + e.Path + " is kept: " + e.Reason})
			}
		},
	}
	for i := range r.plan.Images {
		if _, err := image.Build(ctx, &r.plan.Images[i], opts); err != nil {
			if cause := context.Cause(ctx); cause != nil {
				return cause
			}
			return err
		}
	}
	return nil
}

func imageStep(e image.Event) string {
	if e.Reason == "" {
		return string(e.Step)
	}
	return string(e.Step) + ", " + e.Reason
}
