package route

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/stats"
)

var errHungUp = errors.New("its socket was closed")

// lost ends a link after an error of its socket, or one that its host made.
func (s *Switch) lost(l *link, err error) {
	t := s.turn()
	s.lose(t, l, err)
	s.end(t)
}

// lose is the death of a link: its master can be reattached, and all who wait for it are told. A link that is dead
// already stays so. mu is held.
func (s *Switch) lose(t *turn, l *link, err error) {
	if l.dead != nil {
		return
	}
	if err == io.EOF {
		err = errHungUp
	}
	s.retire(t, l, err)
	m := l.master
	if m == nil {
		return
	}
	s.note(t, slog.LevelWarn, "master died", "master", m.id, "error", err)
	m.link, m.healthy, m.lastError, m.check = nil, false, err, nil
	m.suspend()
	s.bury(t, l, err)
	s.rebuild()
}

// retire ends a link: its socket is closed when the turn ends, and its reader ends then. mu is held.
func (s *Switch) retire(t *turn, l *link, reason error) {
	l.dead = reason
	l.stop()
	delete(s.links, l)
	if l.check != nil {
		s.endCheck(l, reason)
	}
	t.lost = append(t.lost, l)
}

// bury ends the requests that a dead link served or made.
func (s *Switch) bury(t *turn, l *link, reason error) {
	var concerned []*request
	for _, r := range s.requests {
		if r.dest == l || r.origin == l {
			concerned = append(concerned, r)
		}
	}
	slices.SortFunc(concerned, (*request).compareAge)
	died := diedError(l, reason)
	for _, r := range concerned {
		s.terminate(t, r, stats.KindMasterDied, nil)
		if r.dest == l {
			s.fail(t, r, died)
			continue
		}
		s.sendCancel(t, r, false, frame.CancelReason{
			Code: []byte(call.CodeAborted), Attribution: died.Attribution, Message: []byte(died.Message),
		})
	}
}

func diedError(l *link, reason error) *call.Error {
	return &call.Error{
		Code: codeMasterDied, Attribution: frame.AttributionEnvironment,
		Message: fmt.Sprintf("master %d (%q) died: %v", l.master.index, l.id, reason),
	}
}
