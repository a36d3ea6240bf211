package outbox

import "time"

// A stall watches a full outbox. The zero value watches nothing.
type stall struct {
	timer *time.Timer
	armed bool
	since time.Time // the link took something, or the outbox became full
}

// watch begins to watch an outbox that is full.
func (o *Outbox) watch() {
	if o.stall.armed || o.corked || o.err != nil || !o.Full() {
		return
	}
	o.stall.armed, o.stall.since = true, time.Now()
	if o.stall.timer == nil {
		o.stall.timer = time.AfterFunc(o.options.Stall, o.checkStall)
	} else {
		o.stall.timer.Reset(o.options.Stall)
	}
}

// checkStall fails an outbox whose link takes nothing.
func (o *Outbox) checkStall() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.stall.armed {
		return
	}
	if left := o.options.Stall - time.Since(o.stall.since); left > 0 {
		o.stall.timer.Reset(left)
		return
	}
	o.fail(ErrStalled)
}

// moved takes note that the link took something.
func (s *stall) moved(full bool) {
	switch {
	case !s.armed:
	case full:
		s.since = time.Now()
	default:
		s.stop()
	}
}

func (s *stall) stop() {
	if s.armed {
		s.armed = false
		s.timer.Stop()
	}
}
