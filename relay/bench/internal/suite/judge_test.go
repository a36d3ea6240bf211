package suite

import (
	"strings"
	"testing"

	"github.com/cosim-go/cosim/relay/bench/internal/measure"
)

func measured(group, name string, results ...measure.Result) []measure.Comparison {
	return []measure.Comparison{{Group: group, Case: name, Results: results}}
}

func TestJudgeHoldsRatiosAgainstTheirLimits(t *testing.T) {
	for _, test := range []struct {
		ours, bufio float64
		holds       bool
	}{{220, 100, true}, {221, 100, false}, {50, 100, true}} {
		verdicts := Judge(measured("hop", "payload=1KiB",
			measure.Result{Name: "relay", Ns: test.ours}, measure.Result{Name: "bufio", Ns: test.bufio}))
		if len(verdicts) != 1 {
			t.Fatalf("%d verdicts of the one pair that was measured: %+v", len(verdicts), verdicts)
		}
		if v := verdicts[0]; v.Holds != test.holds || v.Got != test.ours/test.bufio {
			t.Errorf("ours %v, bufio %v: %+v, want holds %v", test.ours, test.bufio, v, test.holds)
		}
	}
}

func TestJudgeTakesTheOtherCaseWhereALineSaysSo(t *testing.T) {
	all := append(measured("decode", "payload=1KiB", measure.Result{Name: "relay", Ns: 100}),
		measured("decode", "payload=256KiB", measure.Result{Name: "relay", Ns: 160})...)
	var missed []string
	for _, v := range Judge(all) {
		if !v.Holds {
			missed = append(missed, v.Name+" "+v.What)
		}
	}
	if want := "decode/payload=256KiB relay : relay payload=1KiB"; strings.Join(missed, "\n") != want {
		t.Errorf("missed %q, want %q", missed, want)
	}
}

func TestJudgeCountsAllocations(t *testing.T) {
	for objects, holds := range map[float64]bool{6: true, 1000: false} {
		verdicts := Judge(measured("encode", "frame=END", measure.Result{Name: "relay", Objects: objects}))
		if len(verdicts) != 1 || verdicts[0].Holds != holds {
			t.Errorf("%v objects: %+v, want one that holds: %v", objects, verdicts, holds)
		}
	}
}

func TestJudgeHoldsAllocationsAgainstTheirLimit(t *testing.T) {
	for allocs, holds := range map[float64]bool{20: true, 20.1: false} {
		verdicts := Judge(measured("switch", "masters=4/in-flight=32", measure.Result{Name: "relay", Allocs: allocs}))
		if len(verdicts) != 1 || verdicts[0].Holds != holds || verdicts[0].Limit != 20 {
			t.Errorf("%v allocations: %+v, want one that holds: %v", allocs, verdicts, holds)
		}
	}
}

func TestEveryLineNamesWhatThereIs(t *testing.T) {
	contenders := map[string]bool{}
	for _, group := range Groups() {
		scenarios, err := group.Scenarios()
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range scenarios {
			for _, c := range s.Contenders {
				contenders[s.Name()+" "+c.Name] = true
			}
		}
	}
	for _, c := range relayComparisons(t) {
		for _, r := range c.Results {
			contenders[c.Group+"/"+c.Case+" "+r.Name] = true
		}
	}
	for _, l := range lines {
		for _, name := range l.cases {
			wanted := []string{l.group + "/" + name + " " + l.ours}
			if l.from != "" {
				name = l.from
			}
			if l.against != "" {
				wanted = append(wanted, l.group+"/"+name+" "+l.against)
			}
			for _, w := range wanted {
				if !contenders[w] {
					t.Errorf("line %d speaks of %s, which there is not", l.number, w)
				}
			}
		}
	}
}

func TestLinesPrintWhatIsWantedAndWhatIsMissed(t *testing.T) {
	var out strings.Builder
	err := PrintLines(&out, []Verdict{
		{Line: 7, Name: "hop/payload=64B", What: "relay : nats", Limit: faster(4), Got: 0.5, Times: true, Faster: true},
		{Line: 8, Name: "hop/payload=1KiB", What: "relay : bufio", Limit: 2.2, Got: 1.5, Times: true, Holds: true},
		{Line: 11, Name: "bridge/payload=64B", What: "slave allocs/op", Got: 0.001, Holds: true},
		{Line: 14, Name: "switch/masters=1", What: "relay allocs/op", Limit: 20, Got: 20.5},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `line  scenario            what             wanted                 got           
7     hop/payload=64B     relay : nats     at least 4.00x faster  2.00x faster  MISSED
8     hop/payload=1KiB    relay : bufio    at most 2.20x          1.50x         
11    bridge/payload=64B  slave allocs/op  0                      0.001         
14    switch/masters=1    relay allocs/op  at most 20.000         20.500        MISSED
`
	if out.String() != want {
		t.Errorf("PrintLines wrote\n%s, want\n%s", out.String(), want)
	}
}
