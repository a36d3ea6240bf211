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
	fed   []*link
	ended []stats.Terminated
	lost  []*link
	notes []note
	news  []announcement
	buf   [4]*link
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
	if n := len(t.fed); n > 0 && t.fed[n-1] == l || slices.Contains(t.fed, l) {
		return
	}
	if t.fed == nil {
		t.fed = t.buf[:0]
	}
	t.fed = append(t.fed, l)
}

// flush has all outboxes that were fed written. mu is not held.
func (t *turn) flush() {
	for i, l := range t.fed {
		l.out.Flush()
		t.fed[i] = nil
	}
	t.fed = t.fed[:0]
}
