package supervise

import "sync"

// A mailbox carries functions to the one goroutine that runs them, in order. It takes
// any number without blocking, so that no sender outlives its work.
type mailbox struct {
	wake chan struct{} // holds a token while there is something to take

	mu     sync.Mutex
	posted []func()
}

func newMailbox() *mailbox { return &mailbox{wake: make(chan struct{}, 1)} }

func (m *mailbox) post(f func()) {
	m.mu.Lock()
	m.posted = append(m.posted, f)
	m.mu.Unlock()
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// take returns what was posted since the last call.
func (m *mailbox) take() []func() {
	m.mu.Lock()
	defer m.mu.Unlock()
	posted := m.posted
	m.posted = nil
	return posted
}
