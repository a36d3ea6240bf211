package suite

import "github.com/cosim-go/cosim/relay/bench/internal/measure"

// A Group makes the scenarios of one subject.
type Group struct {
	Name      string
	Scenarios func() ([]measure.Scenario, error)
}

// Groups are all there are, in the order in which they are run.
func Groups() []Group {
	return []Group{
		{"encode", Encode}, {"decode", Decode}, {"checksum", Checksum}, {"order", Order},
		{"hop", Hop}, {"bridge", Bridge}, {"trip", Trip},
	}
}
