package flow

// A waiter is one who waits for credit. It is called once: its turn has come, or err says why
// it never will.
type waiter struct {
	n          uint64        // how much it wants
	turn       chan struct{} // holds something once it was called
	err        error
	prev, next *waiter
}

// A line is of waiters, the one who came first in front.
type line struct {
	first, last *waiter
}

func (l *line) join(w *waiter) {
	w.prev, w.next = l.last, nil
	if l.last == nil {
		l.first = w
	} else {
		l.last.next = w
	}
	l.last = w
}

// call takes a waiter out of the line and wakes it.
func (l *line) call(w *waiter) {
	l.remove(w)
	w.turn <- struct{}{}
}

func (l *line) remove(w *waiter) {
	if w.prev == nil {
		l.first = w.next
	} else {
		w.prev.next = w.next
	}
	if w.next == nil {
		l.last = w.prev
	} else {
		w.next.prev = w.prev
	}
	w.prev, w.next = nil, nil
}
