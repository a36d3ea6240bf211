package suite

import (
	"fmt"
	"strings"

	"github.com/cosim-go/cosim/relay/bench/internal/measure"
	"github.com/cosim-go/cosim/relay/bench/internal/ours"
	"github.com/cosim-go/cosim/relay/relaytest"
)

// A RelayGroup is a subject of the relay above its frame path, which has no peers. Package relaytest measures it.
type RelayGroup struct {
	Name    string
	Measure func(*relaytest.MeasureOptions) ([]relaytest.Figure, error)
}

// RelayGroups are all there are, in the order in which they are run.
func RelayGroups() []RelayGroup {
	return []RelayGroup{{"lookup", lookup}, {"switch", requests}, {"stream", stream}}
}

// LookupCap is number i of n caps that differ in what they take and give.
func LookupCap(i, n int) string {
	side := 1
	for side*side < n {
		side++
	}
	return fmt.Sprintf(`cap:convert;in="media:ext=a%d";out="media:ext=b%d"`, i%side, i/side)
}

func lookup(o *relaytest.MeasureOptions) ([]relaytest.Figure, error) {
	return relaytest.MeasureLookup(LookupCap, o)
}

func requests(o *relaytest.MeasureOptions) ([]relaytest.Figure, error) {
	return relaytest.MeasureSwitch(relaytest.SocketPair, ours.Switch, o)
}

func stream(o *relaytest.MeasureOptions) ([]relaytest.Figure, error) {
	s, err := ours.Stream()
	if err != nil {
		return nil, err
	}
	return relaytest.MeasureStream(s, o)
}

// Of returns a figure as the comparison of two contenders.
func Of(f relaytest.Figure) measure.Comparison {
	group, name, _ := strings.Cut(f.Name, "/")
	return measure.Comparison{Group: group, Case: name, Bytes: f.Payload, Results: []measure.Result{
		{Name: "relay", Kind: measure.Ours, Ns: f.Frame, Allocs: f.Allocs},
		{Name: f.Floor, Kind: measure.Floor, Ns: f.Base},
	}}
}
