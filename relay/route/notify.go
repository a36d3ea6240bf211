package route

import (
	"context"
	"errors"
	"log/slog"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/caps"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/internal/inbox"
	"github.com/cosim-go/cosim/relay/manifest"
)

// notified takes in a RELAY_NOTIFY that came after the first one. One whose manifest cannot be taken changes nothing.
// It is called by the link's reader, and reads the manifest without mu.
func (s *Switch) notified(l *link, f *frame.Frame) {
	var inventory *manifest.Inventory
	var change manifest.Change
	if data, ok := f.Manifest(); ok {
		var err error
		if inventory, change, err = l.readManifest(data, true); err != nil {
			s.log.Error("a relay_notify was refused", "master", l.id, "error", err)
			return
		}
	}
	limits, limitsErr := f.NotifyLimits()
	t := s.turn()
	if l.dead != nil {
		s.end(t)
		return
	}
	had := len(l.offer.inventory.Caps) > 0
	if inventory != nil {
		l.offer.inventory = inventory
	}
	if limitsErr == nil && limits != l.offer.limits {
		l.offer.limits = limits
		l.out.SetMaxFrame(l.offer.maxFrame())
	}
	if l.master != nil {
		s.reoffered(t, l.master, had, change)
		if inventory != nil {
			s.announce(t, l)
		}
	}
	s.end(t)
}

// readManifest reads a manifest of the link's host, and says what is new against the last one that was taken.
func (l *link) readManifest(data []byte, allowEmpty bool) (*manifest.Inventory, manifest.Change, error) {
	inventory, change, err := l.follow.Read(data)
	if err == nil {
		err = inventory.Check(allowEmpty)
		if err != nil {
			l.refused = true
		}
	}
	if err != nil {
		return nil, manifest.Change{}, err
	}
	if l.refused { // change is against one that was not taken
		change, l.refused = manifest.Change{Caps: true, Admission: true}, false
	}
	return inventory, change, nil
}

// reoffered brings all tables in line with what a master's host offers now. mu is held.
func (s *Switch) reoffered(t *turn, m *master, had bool, change manifest.Change) {
	m.offer = m.link.offer
	has := len(m.offer.inventory.Caps) > 0
	switch {
	case !had && has:
		s.recheck(t, m)
	case had && !has && m.check != nil: // nothing is left to be checked
		m.check, m.healthy, m.lastError = nil, true, nil
	}
	if change.Caps || change.Admission {
		s.configure(m)
		s.rebuild()
	}
}

var errPending = errors.New("the identity check is under way")

// recheck starts the identity check of a master whose host had no caps before. Nothing is routed there until it has
// passed. mu is held.
func (s *Switch) recheck(t *turn, m *master) {
	m.healthy, m.lastError = false, errPending
	c := &Call{s: s, in: inbox.New(0), limits: m.offer.limits}
	c.request = request{rid: frame.NewUUID(), urn: caps.Identity, call: c, dest: m.link}
	if err := s.register(&c.request); err != nil {
		m.lastError = err
		return
	}
	m.check = c
	frames := identityFrames(c.request.rid, runtimeStream)
	for i := range frames {
		s.fromEngine(t, &c.request, &frames[i], false) // or the master dies, which ends the request
	}
	s.running.Go(func() { s.awaitCheck(m, c) })
}

// awaitCheck waits for the answer to a run-time identity check, and takes what comes of it.
func (s *Switch) awaitCheck(m *master, c *Call) {
	ctx, cancel := context.WithTimeoutCause(context.Background(), s.options.RuntimeIdentityLimit, errLate)
	defer cancel()
	ctx, done := s.within(ctx)
	defer done()
	err := readEcho(ctx, c)
	if err != nil {
		c.Cancel(false, frame.CancelReason{
			Code: []byte(call.CodeAborted), Attribution: frame.AttributionInternal, Message: []byte("the identity check failed"),
		})
	}
	c.Close()
	t := s.turn()
	defer s.end(t)
	if m.check != c {
		return
	}
	m.check, m.healthy, m.lastError = nil, err == nil, err
	s.configure(m)
	s.rebuild()
	if err != nil {
		s.note(t, slog.LevelWarn, "the identity check failed", "master", m.id, "error", err)
	}
}

// readEcho reads the answer to an identity check.
func readEcho(ctx context.Context, c *Call) error {
	var e echo
	for {
		f, err := c.Next(ctx)
		if err != nil {
			return err
		}
		if last, err := e.take(f); last {
			return err
		}
	}
}
