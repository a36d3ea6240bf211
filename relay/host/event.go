package host

import "github.com/cosim-go/cosim/relay/manifest"

// An EventKind says what happened to a cartridge.
type EventKind string

// The kinds of events.
const (
	Started  EventKind = "started"  // it runs, and is greeted and checked
	Failed   EventKind = "failed"   // it could not be started, for good
	Died     EventKind = "died"     // it ran and does not any more; the next request starts it again
	Stopped  EventKind = "stopped"  // it ended with its host, or because the roster no longer has it
	Refused  EventKind = "refused"  // it did not take what the operator wants of its pools
	Violated EventKind = "violated" // it broke the rules of the protocol, and is killed
)

// An Event is something that happened to a cartridge.
type Event struct {
	Kind    EventKind
	Install manifest.Install
	PID     int    // of its process; 0 for none
	Message string // why, for people; "" for Started
}
