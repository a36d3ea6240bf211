package route

import (
	"slices"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/stats"
)

// Cancel cancels a request, all peer calls that were made for it, and theirs. It reports whether there was one.
// Who waits for the response gets an ERR in the words of the reason at once, and the handlers get a CANCEL; with
// force, the processes that serve them end, with all else that these serve. The zero reason gives none.
func (s *Switch) Cancel(rid frame.ID, force bool, reason frame.CancelReason) bool {
	t := s.turn()
	defer s.end(t)
	r := s.requests[rid]
	if r == nil {
		return false
	}
	s.cancel(t, r, force, reason)
	return true
}

// CancelAll cancels every request of the engine, as [Switch.Cancel] does, and returns their ids, the oldest first.
func (s *Switch) CancelAll(force bool, reason frame.CancelReason) []frame.ID {
	t := s.turn()
	defer s.end(t)
	var own []*request
	for _, r := range s.requests {
		if r.origin == nil {
			own = append(own, r)
		}
	}
	slices.SortFunc(own, (*request).compareAge)
	ids := make([]frame.ID, len(own))
	for i, r := range own {
		ids[i] = r.rid
		if r.live { // not a child of one before it
			s.cancel(t, r, force, reason)
		}
	}
	return ids
}

// StopFeeds asks the handler of a request to end all live inputs and to finish as usual. It reports whether there
// is such a request.
func (s *Switch) StopFeeds(rid frame.ID) bool {
	t := s.turn()
	defer s.end(t)
	r := s.requests[rid]
	if r == nil {
		return false
	}
	f := frame.NewCloseStream(rid, nil)
	return s.fromEngine(t, r, &f, false) == nil
}

// cancel ends a request that lives, and its children. mu is held.
func (s *Switch) cancel(t *turn, r *request, force bool, reason frame.CancelReason) {
	answer := call.CancelledFrom(reason).Terminal()
	for family := []*request{r}; len(family) > 0; {
		r := family[0]
		family = family[1:]
		for c := r.child; c != nil; c = c.next {
			family = append(family, c)
		}
		s.terminate(t, r, stats.KindCancelled, &reason)
		s.sendCancel(t, r, force, reason)
		s.fail(t, r, answer)
	}
}

// sendCancel writes the CANCEL of a request that has ended to its handler, behind which nothing of it goes there.
func (s *Switch) sendCancel(t *turn, r *request, force bool, reason frame.CancelReason) {
	if !r.opened {
		return
	}
	f, err := frame.NewCancel(r.rid, force, reason)
	if err != nil { // a text that is not UTF-8
		f, _ = frame.NewCancel(r.rid, force, frame.CancelReason{Attribution: reason.Attribution})
	}
	f.RoutingID = r.xid
	r.dest.send(t, &f)
	s.forget(r)
}

// forget forgets the numbers of a request that has ended on the way to its handler. A request that is served where
// it came from has the same flow for its response, which goes on until the end of that is written.
func (s *Switch) forget(r *request) {
	if r.origin != r.dest {
		r.dest.out.Forget(r.key())
	}
}

// fail answers a request that has ended with an ERR, if somebody waits.
func (s *Switch) fail(t *turn, r *request, answer *call.Error) {
	f, err := frame.NewErr(r.rid, answer.Info())
	if err != nil { // a text that is not UTF-8
		plain := call.Error{Code: call.CodeCancelled, Attribution: answer.Attribution, Message: "no text is left of the reason"}
		f, _ = frame.NewErr(r.rid, plain.Info())
	}
	f.RoutingID = r.xid
	switch {
	case r.call != nil:
		r.call.finish(&f)
	case r.origin == nil:
		s.toEngine(&f)
	case r.origin.dead == nil:
		r.origin.send(t, &f)
	}
}
