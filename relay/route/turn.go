package route

import (
	"context"
	"log/slog"
	"slices"

	"github.com/cosim-go/cosim/relay/manifest"
	"github.com/cosim-go/cosim/relay/stats"
)

// A turn is a stretch of work on the tables of a switch, with mu held, and what that work leaves to be done
// without: outboxes that were fed are to be flushed, observers called, sockets closed.
type turn struct {
	first *link // outboxes that were fed: the first one, and more
	more  []*link
	ended []stats.Terminated
	lost  []*link
	notes []note
	news  []announcement
}

// A note is a message for the log.
type note struct {
	level   slog.Level
	message string
	args    []any
}

// An announcement is for [Options.OnNotify].
type announcement struct {
	master    string
	inventory *manifest.Inventory
}

// announce keeps what a host offers now for the observer.
func (s *Switch) announce(t *turn, l *link) {
	if s.options.OnNotify != nil {
		t.news = append(t.news, announcement{l.id, l.offer.inventory})
	}
}

// note keeps a message for the log until mu is free: whoever writes it may wait.
func (s *Switch) note(t *turn, level slog.Level, message string, args ...any) {
	if s.log.Enabled(context.Background(), level) {
		t.notes = append(t.notes, note{level, message, args})
	}
}

// turn begins one.
func (s *Switch) turn() *turn {
	t := &turn{}
	s.mu.Lock()
	return t
}

// end ends a turn and does what is left.
func (s *Switch) end(t *turn) {
	s.mu.Unlock()
	s.finish(t)
	t.flush()
}

// finish does what a turn left, except to flush, and forgets it. mu is not held.
func (s *Switch) finish(t *turn) {
	if len(t.lost)+len(t.ended)+len(t.notes)+len(t.news) == 0 {
		return
	}
	for _, l := range t.lost {
		l.close()
	}
	for i := range t.ended {
		s.options.OnTerminated(t.ended[i])
	}
	for _, n := range t.notes {
		s.log.Log(context.Background(), n.level, n.message, n.args...)
	}
	for _, a := range t.news {
		s.options.OnNotify(a.master, a.inventory)
	}
	t.lost, t.ended, t.notes, t.news = nil, nil, nil, nil
}

// feed notes that a link's outbox was fed.
func (t *turn) feed(l *link) {
	switch {
	case t.first == l || slices.Contains(t.more, l):
	case t.first == nil:
		t.first = l
	default:
		t.more = append(t.more, l)
	}
}

// flush has all outboxes that were fed written. mu is not held.
func (t *turn) flush() {
	if t.first != nil {
		t.first.out.Flush()
		t.first = nil
	}
	for i, l := range t.more {
		l.out.Flush()
		t.more[i] = nil
	}
	t.more = t.more[:0]
}
