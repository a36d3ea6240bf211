package suite

import (
	"bytes"
	"testing"

	"github.com/cosim-go/cosim/relay/bench/internal/carry"
	"github.com/cosim-go/cosim/relay/bench/internal/load"
	"github.com/cosim-go/cosim/relay/bench/internal/measure"
)

const frames = 100 // more than any window or buffer holds of the larger ones

func TestLinksDeliverEveryFrameWhole(t *testing.T) {
	for _, l := range links {
		for _, size := range load.Sizes {
			t.Run(l.name+"/"+payload(size), func(t *testing.T) {
				item := load.Chunk(size)
				link, err := l.open(item)
				if err != nil {
					t.Fatal(err)
				}
				got := arrivals{t: t, want: func(int) []byte { return item.Body() }}
				for range 2 { // a link carries on where it was
					if err := carry.Transfer(link, frames, got.see); err != nil {
						t.Error(err)
					}
				}
				if err := link.Close(); err != nil {
					t.Error(err)
				}
				if got.n != 2*frames {
					t.Errorf("%d frames arrived, want %d", got.n, 2*frames)
				}
			})
		}
	}
}

func TestEchoesBringBackWhatWasSent(t *testing.T) {
	tape := load.NewTape(64)
	type open = named[carry.OpenEcho]
	all := append([]open(nil), echoes...)
	for _, b := range bridges {
		all = append(all, open{"over-" + b.name, b.kind, carry.EchoOver(b.open)})
	}
	for _, e := range all {
		t.Run(e.name, func(t *testing.T) {
			echo, err := e.open(tape)
			if err != nil {
				t.Fatal(err)
			}
			got := arrivals{t: t, want: func(n int) []byte { return tape.Items[n%len(tape.Items)].Body() }}
			for range len(tape.Items) + 10 { // the tape starts over
				if err := echo.Trip(got.see); err != nil {
					t.Fatal(err)
				}
			}
			if err := echo.Close(); err != nil {
				t.Error(err)
			}
			if want := len(tape.Items) + 10; got.n != want {
				t.Errorf("%d frames came back, want %d", got.n, want)
			}
		})
	}
}

func TestBridgesPassOnEveryByte(t *testing.T) {
	for _, b := range bridges {
		for _, size := range load.Sizes {
			t.Run(b.name+"/"+payload(size), func(t *testing.T) {
				crossing, err := carry.OpenCrossing(b.open, load.NewTape(size))
				if err != nil {
					t.Fatal(err)
				}
				if err := crossing.Check(); err != nil {
					t.Error(err)
				}
				if err := crossing.Run(100); err != nil { // the tape starts over
					t.Error(err)
				}
				if err := crossing.Close(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

func TestEveryScenarioRuns(t *testing.T) {
	seen := map[string]bool{}
	for _, group := range Groups() {
		scenarios, err := group.Scenarios()
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range scenarios {
			if seen[s.Name()] {
				t.Errorf("there are two scenarios %s", s.Name())
			}
			seen[s.Name()] = true
			comparison, err := measure.Compare(s, measure.Options{Samples: 1, Time: 1})
			if err != nil {
				t.Error(err)
			}
			for _, r := range comparison.Results {
				if r.Ns <= 0 {
					t.Errorf("%s: %s took %v ns", s.Name(), r.Name, r.Ns)
				}
			}
		}
	}
}

// arrivals counts frames and holds each against the one it has to be.
type arrivals struct {
	t    *testing.T
	want func(n int) []byte
	n    int
}

func (a *arrivals) see(body []byte) {
	if want := a.want(a.n); !bytes.Equal(body, want) {
		a.t.Errorf("frame %d: %d bytes that are not the %d sent", a.n, len(body), len(want))
	}
	a.n++
}
