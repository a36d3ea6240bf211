package endtoend

import (
	"sync"
	"time"
)

// A way is how a process was made to end.
type way int

const (
	byItself way = iota // it exited, or died of a signal
	byForce             // a forced cancel
)

// Kills says when which cartridges were being killed, and how: whoever is served there then ends for it.
type kills struct {
	mu     sync.Mutex
	events map[string][]*kill // by the name of the cartridge
}

type kill struct {
	how      way
	from, to time.Time // to is zero while it may still happen
}

// begin says that from now on a cartridge may end, until the function that it returns is called.
func (k *kills) begin(name string, how way) (end func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	event := &kill{how: how, from: time.Now()}
	if k.events == nil {
		k.events = map[string][]*kill{}
	}
	k.events[name] = append(k.events[name], event)
	return func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		event.to = time.Now()
	}
}

// explain reports whether one of some cartridges was killed in a certain way after a moment.
func (k *kills) explain(how way, after time.Time, names ...string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, name := range names {
		for _, event := range k.events[name] {
			if event.how == how && (event.to.IsZero() || event.to.After(after)) {
				return true
			}
		}
	}
	return false
}
