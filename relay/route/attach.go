package route

import (
	"context"
	"io"
	"time"

	"github.com/cosim-go/cosim/relay/manifest"
)

// A master is the switch's end of one host: an id and an index for the life of the switch, and, while it is
// attached, a link.
type master struct {
	id        string
	index     int
	link      *link // nil while it is lost
	offer     offer // of the link, or of the last one
	healthy   bool
	lastError error
	since     time.Time // of the link
	check     *Call     // the identity check that is under way at run time
	pools     map[manifest.Install]*pool
}

// A join is what one id's calls of AddMaster have in common.
type join struct {
	turn  chan struct{} // holds one token while nobody joins
	calls int
}

// AddMaster joins a host behind a socket as the master of an id, and returns its index. It takes over conn, also
// when it fails; closing conn has to end a waiting Read and Write.
//
// An id that is new gets the next index. One whose master was lost is reattached in its place; one whose socket
// is still read is refused with ErrAttached, healthy or not: see [Switch.AcceptsAttach]. Calls for one id are
// served one after the other; a host that hangs holds up no other id.
//
// A host that does not announce itself as it has to, or not in time, is refused with an error of package bridge
// or frame, and the master stays as it was. A host that fails its identity check joins, but unhealthy:
// [Switch.Health] has the reason. ctx is for the call alone.
func (s *Switch) AddMaster(ctx context.Context, id string, conn io.ReadWriteCloser) (index int, err error) {
	ctx, done := s.within(ctx)
	defer done()
	index, err = s.addMaster(ctx, id, conn)
	if err != nil {
		conn.Close()
		return 0, err
	}
	return index, nil
}

func (s *Switch) addMaster(ctx context.Context, id string, conn io.ReadWriteCloser) (int, error) {
	if id == "" {
		return 0, errNoID
	}
	leave, err := s.awaitTurn(ctx, id)
	if err != nil {
		return 0, err
	}
	defer leave()
	if err := s.free(id); err != nil {
		return 0, err
	}
	l, err := s.connect(ctx, id, conn)
	if err != nil {
		return 0, err
	}
	failed := s.verify(ctx, l)
	t := s.turn()
	defer s.end(t)
	switch {
	case s.closed:
		return 0, errClosed
	case failed != nil && ctx.Err() != nil:
		s.lose(t, l, context.Cause(ctx))
		return 0, context.Cause(ctx)
	}
	return s.install(t, l, failed), nil
}

// awaitTurn waits until no other call of AddMaster for the id is on. What it returns is to be called at the
// end of this one.
func (s *Switch) awaitTurn(ctx context.Context, id string) (leave func(), err error) {
	s.mu.Lock()
	j := s.joins[id]
	if j == nil {
		j = &join{turn: make(chan struct{}, 1)}
		j.turn <- struct{}{}
		s.joins[id] = j
	}
	j.calls++
	s.mu.Unlock()
	done := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if j.calls--; j.calls == 0 {
			delete(s.joins, id)
		}
	}
	select {
	case <-j.turn:
		return func() { j.turn <- struct{}{}; done() }, nil
	case <-ctx.Done():
		done()
		return nil, context.Cause(ctx)
	}
}

// free returns an error when the master of an id is attached.
func (s *Switch) free(id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errClosed
	}
	if m := s.masterOf(id); m != nil && m.link != nil {
		return errorf(ErrAttached, "master %q is attached already", id)
	}
	return nil
}

// AcceptsAttach reports whether [Switch.AddMaster] would take a socket for an id now: the id is new, or the socket
// of its master is not read any more. Whether the master is healthy has nothing to do with it.
func (s *Switch) AcceptsAttach(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.masterOf(id)
	return !s.closed && s.joins[id] == nil && (m == nil || m.link == nil)
}

// masterOf returns the master of an id, or nil. mu is held.
func (s *Switch) masterOf(id string) *master {
	for _, m := range s.masters {
		if m.id == id {
			return m
		}
	}
	return nil
}

// install makes a link that was verified, or failed to be, that of its master, and lets its reader go on. mu
// is held, and no other link of the id is installed.
func (s *Switch) install(t *turn, l *link, failed error) (index int) {
	m := s.masterOf(l.id)
	if m == nil {
		m = &master{id: l.id, index: len(s.masters), pools: map[manifest.Install]*pool{}}
		s.masters = append(s.masters, m)
	}
	m.offer, m.since = l.offer, time.Now()
	m.healthy, m.lastError = failed == nil, failed
	if l.dead == nil {
		l.master, m.link = m, l
		close(l.joined)
	} else {
		m.healthy, m.lastError = false, l.dead
	}
	s.configure(m)
	s.rebuild()
	s.announce(t, l)
	return m.index
}
