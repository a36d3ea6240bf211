// Package measure compares ways of doing the same thing by taking their samples in turn within one run.
//
// A machine that is busy, hot or slow is so for all of them alike, so a ratio of two medians of one run says
// more than either figure does.
package measure

// A Scenario is one thing to do, the contenders that do it, and how large it is.
type Scenario struct {
	Group      string // what is done: hop
	Case       string // with what: payload=64KiB
	Bytes      int    // payload bytes that one operation moves; 0 where it moves none
	Trip       bool   // time each operation by itself, for a median and a 99th percentile of single operations
	Contenders []Contender
}

// Name is unique among the scenarios of a suite.
func (s Scenario) Name() string { return s.Group + "/" + s.Case }

// A Kind says what a contender is there for.
type Kind string

const (
	Ours  Kind = "ours"  // code of this repository
	Peer  Kind = "peer"  // what a user could take in its place
	Floor Kind = "floor" // what the machine needs for moving the bytes alone
)

// A Contender is one way to do what a scenario asks for.
type Contender struct {
	Name string // unique in its scenario
	Kind Kind
	Open func() (Runner, error) // makes what Run needs: connections, goroutines, buffers
}

// A Runner is a contender that has been opened. Its methods are called by one goroutine at a time.
type Runner interface {
	// Run does the operation n times and returns when the last is complete.
	Run(n int) error
	// Close releases what Open made and waits for its goroutines.
	Close() error
}

// Func is a Runner that holds nothing: it is Run.
type Func func(n int) error

// Run calls f.
func (f Func) Run(n int) error { return f(n) }

// Close does nothing.
func (f Func) Close() error { return nil }

// Loop is a contender whose operations are turns of a loop that needs no setting up.
func Loop(name string, kind Kind, run func(n int) error) Contender {
	return Contender{name, kind, func() (Runner, error) { return Func(run), nil }}
}
