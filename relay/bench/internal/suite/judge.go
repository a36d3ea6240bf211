package suite

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/cosim-go/cosim/relay/bench/internal/measure"
)

// A Verdict is one line in one case: how ours came out, and whether that is what it is meant to reach.
type Verdict struct {
	Line   int     `json:"line"`
	Name   string  `json:"name"`  // the scenario's
	What   string  `json:"what"`  // relay : bufio
	Limit  float64 `json:"limit"` // at most; of allocations, 0 is none
	Got    float64 `json:"got"`   // ratio of medians, or allocations of an operation
	Times  bool    `json:"times"` // Got and Limit are ratios
	Holds  bool    `json:"holds"`
	Faster bool    `json:"faster"` // the limit is a share: ours has to take less
}

// background is how many heap objects a sample may make whose operations make none: those of the measurement
// and of the runtime count too. A sample has hundreds of operations and more.
const background = 32

// Judge holds every line against what was measured. Lines whose contenders were not measured are left out.
func Judge(measured []measure.Comparison) []Verdict {
	verdicts := []Verdict{}
	for _, l := range lines {
		for _, name := range l.cases {
			if v, ok := l.judge(measured, name); ok {
				verdicts = append(verdicts, v)
			}
		}
	}
	return verdicts
}

func (l line) judge(measured []measure.Comparison, name string) (v Verdict, ok bool) {
	ours, ok := find(measured, l.group, name, l.ours)
	if !ok {
		return v, false
	}
	v = Verdict{Line: l.number, Name: l.group + "/" + name}
	if l.noAlloc {
		v.What, v.Got = l.ours+" allocs/op", ours.Allocs
		v.Holds = ours.Objects <= background
		return v, true
	}
	if l.mostAllocs > 0 {
		v.What, v.Got, v.Limit = l.ours+" allocs/op", ours.Allocs, l.mostAllocs
		v.Holds = v.Got <= v.Limit
		return v, true
	}
	v.What = l.ours + " : " + l.against
	from := name
	if l.from != "" {
		from = l.from
		v.What += " " + from
	}
	other, ok := find(measured, l.group, from, l.against)
	if !ok {
		return v, false
	}
	v.Got = ours.Ns / other.Ns
	if l.p99 {
		v.What += ", p99"
		v.Got = ours.P99 / other.P99
	}
	v.Limit, v.Times, v.Faster = l.atMost, true, l.atMost <= 1
	v.Holds = v.Got <= v.Limit
	return v, true
}

func find(measured []measure.Comparison, group, name, contender string) (measure.Result, bool) {
	for _, c := range measured {
		if c.Group == group && c.Case == name {
			return c.Result(contender)
		}
	}
	return measure.Result{}, false
}

// PrintLines writes the verdicts as a table.
func PrintLines(w io.Writer, verdicts []Verdict) error {
	if len(verdicts) == 0 {
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "line\tscenario\twhat\twanted\tgot\t")
	for _, v := range verdicts {
		mark := ""
		if !v.Holds {
			mark = "MISSED"
		}
		fmt.Fprintf(t, "%d\t%s\t%s\t%s\t%s\t%s\n", v.Line, v.Name, v.What, v.wanted(), v.figure(v.Got), mark)
	}
	return t.Flush()
}

func (v Verdict) wanted() string {
	switch {
	case !v.Times && v.Limit == 0:
		return "0"
	case v.Faster:
		return "at least " + v.figure(v.Limit)
	}
	return "at most " + v.figure(v.Limit)
}

// figure writes a ratio so that a large number is good where ours has to be the faster one.
func (v Verdict) figure(n float64) string {
	switch {
	case !v.Times:
		return fmt.Sprintf("%.3f", n)
	case v.Faster && n > 0:
		return fmt.Sprintf("%.2fx faster", 1/n)
	}
	return fmt.Sprintf("%.2fx", n)
}
