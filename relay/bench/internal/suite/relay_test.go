package suite

import (
	"testing"
	"time"

	"github.com/cosim-go/cosim/relay/bench/internal/measure"
	"github.com/cosim-go/cosim/relay/bench/internal/ours"
	"github.com/cosim-go/cosim/relay/relaytest"
)

func TestMain(m *testing.M) {
	ours.Main()
	m.Run()
}

// relayComparisons measures all that lies above the frame path, as shortly as can be.
func relayComparisons(t *testing.T) (all []measure.Comparison) {
	t.Helper()
	relaytest.NoLeaks(t)
	for _, group := range RelayGroups() {
		figures, err := group.Measure(&relaytest.MeasureOptions{Rounds: 1, Round: time.Nanosecond})
		if err != nil {
			t.Fatalf("%s: %v", group.Name, err)
		}
		for _, f := range figures {
			all = append(all, Of(f))
		}
	}
	return all
}

func TestEveryFigureIsThere(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range relayComparisons(t) {
		name := c.Group + "/" + c.Case
		if seen[name] {
			t.Errorf("there are two of %s", name)
		}
		seen[name] = true
		for _, r := range c.Results {
			if r.Ns <= 0 {
				t.Errorf("%s: %s took %v ns", name, r.Name, r.Ns)
			}
		}
	}
	for _, name := range []string{"lookup/caps=10000/new", "switch/masters=16/in-flight=32", "stream/payload=256KiB"} {
		if !seen[name] {
			t.Errorf("no %s", name)
		}
	}
}
