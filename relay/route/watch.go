package route

import (
	"context"
	"iter"
	"slices"
)

// Capabilities returns the caps of all healthy masters: their texts in canonical form, sorted, each once.
func (s *Switch) Capabilities() []string { return slices.Clone(s.routes.Load().offered) }

// WatchCapabilities yields what [Switch.Capabilities] returns, now and whenever that has changed, until ctx ends or
// the switch is closed. Who is slow does not see what was replaced meanwhile, but always the newest in the end. Nobody
// waits for a watcher.
func (s *Switch) WatchCapabilities(ctx context.Context) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		var last []string
		for first := true; ; first = false {
			s.mu.Lock()
			now, changed, closed := s.routes.Load().offered, s.changed, s.closed
			s.mu.Unlock()
			if (first || !slices.Equal(now, last)) && !yield(slices.Clone(now)) || closed {
				return
			}
			last = now
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
		}
	}
}

// WaitForCap waits until a request for a cap would find a handler. It fails with the cause of ctx, and with
// ErrClosed.
func (s *Switch) WaitForCap(ctx context.Context, cap string) error {
	return s.wait(ctx, func() bool {
		_, ok := s.routes.Load().index.Find(cap, "")
		return ok
	})
}

// Expect sets how many masters are to come before the switch counts as ready; 0, the default, is never.
func (s *Switch) Expect(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expected = n
	s.wake()
}

// AllReady reports whether as many masters as [Switch.Expect] said are there, all of them healthy. They may be
// without caps.
func (s *Switch) AllReady() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.expected > 0 && len(s.masters) == s.expected &&
		!slices.ContainsFunc(s.masters, func(m *master) bool { return !m.healthy })
}

// WaitReady waits until [Switch.AllReady]. It fails with the cause of ctx, and with ErrClosed.
func (s *Switch) WaitReady(ctx context.Context) error { return s.wait(ctx, s.AllReady) }

// wait waits until a condition holds.
func (s *Switch) wait(ctx context.Context, holds func() bool) error {
	for {
		s.mu.Lock()
		changed, closed := s.changed, s.closed
		s.mu.Unlock()
		switch {
		case closed:
			return errClosed
		case holds():
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
