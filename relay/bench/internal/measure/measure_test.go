package measure

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// A counter notes what is asked of it.
type counter struct {
	log    *[]string
	name   string
	closed int
	err    error
}

func (c *counter) Run(int) error {
	*c.log = append(*c.log, c.name)
	return c.err
}

func (c *counter) Close() error {
	c.closed++
	return nil
}

func scenario(runners ...*counter) Scenario {
	s := Scenario{Group: "group", Case: "case"}
	for _, r := range runners {
		s.Contenders = append(s.Contenders, Contender{r.name, Ours, func() (Runner, error) { return r, nil }})
	}
	return s
}

func TestSamplesAreTakenInTurn(t *testing.T) {
	var log []string
	a, b := &counter{log: &log, name: "a"}, &counter{log: &log, name: "b"}
	c, err := Compare(scenario(a, b), Options{Samples: 4, Time: 1})
	if err != nil {
		t.Fatal(err)
	}
	// The first two calibrate.
	if got, want := strings.Join(log, ""), "ab"+"ab"+"ba"+"ab"+"ba"; got != want {
		t.Errorf("ran %s, want %s", got, want)
	}
	if a.closed != 1 || b.closed != 1 {
		t.Errorf("closed %d and %d times, want once each", a.closed, b.closed)
	}
	for _, r := range c.Results {
		if r.Ns <= 0 || r.Low > r.Ns || r.Ns > r.High {
			t.Errorf("%s: ns %v is not between %v and %v", r.Name, r.Ns, r.Low, r.High)
		}
	}
}

func TestAnErrorEndsTheComparisonAndClosesAll(t *testing.T) {
	var log []string
	broken := errors.New("broken")
	a, b := &counter{log: &log, name: "a"}, &counter{log: &log, name: "b", err: broken}
	_, err := Compare(scenario(a, b), Options{Samples: 4, Time: 1})
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "group/case: b: ") {
		t.Errorf("Compare = %v, want one that wraps %v and names group/case and b", err, broken)
	}
	if a.closed != 1 || b.closed != 1 {
		t.Errorf("closed %d and %d times, want once each", a.closed, b.closed)
	}
}

func TestTripsAreTimedOneByOne(t *testing.T) {
	longest, work := 0, 0
	s := Scenario{Group: "trip", Case: "case", Trip: true, Contenders: []Contender{
		Loop("a", Ours, func(n int) error {
			longest = max(longest, n)
			for range n {
				work++
			}
			return nil
		}),
	}}
	c, err := Compare(s, Options{Samples: 1, Time: 10 * time.Microsecond})
	if err != nil {
		t.Fatal(err)
	}
	if longest < 2 {
		t.Error("calibration did not go beyond one trip at a time")
	}
	if r := c.Results[0]; r.P99 < r.Ns || r.Ns <= 0 {
		t.Errorf("median %v, 99th percentile %v", r.Ns, r.P99)
	}
}

func TestWhatTakesNoTimeIsMeasuredTooAndEnds(t *testing.T) {
	s := Scenario{Contenders: []Contender{Loop("a", Ours, func(int) error { return nil })}}
	if _, err := Compare(s, Options{Samples: 1, Time: time.Second}); err != nil {
		t.Error(err)
	}
}

func TestAllocationsAreCounted(t *testing.T) {
	var keep []byte
	work := 0
	s := Scenario{Contenders: []Contender{
		Loop("none", Floor, func(n int) error {
			for range n {
				work++
			}
			return nil
		}),
		Loop("one", Ours, func(n int) error {
			for range n {
				keep = make([]byte, 100)
			}
			return nil
		}),
	}}
	c, err := Compare(s, Options{Samples: 3, Time: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	_ = keep
	if none, one := c.Results[0].Allocs, c.Results[1].Allocs; none > 0.01 || one < 0.99 || one > 1.1 {
		t.Errorf("%v and %v allocations an operation, want 0 and 1", none, one)
	}
}

func TestQuantile(t *testing.T) {
	for _, test := range []struct {
		values []float64
		q      float64
		want   float64
	}{
		{nil, 0.5, 0},
		{[]float64{3}, 0.5, 3},
		{[]float64{9, 1, 5}, 0.5, 5},
		{[]float64{4, 1, 3, 2}, 0.5, 2.5},
		{[]float64{2, 1}, 0, 1},
		{[]float64{2, 1}, 1, 2},
	} {
		if got := quantile(test.values, test.q); got != test.want {
			t.Errorf("quantile(%v, %v) = %v, want %v", test.values, test.q, got, test.want)
		}
	}
}

func TestTableSaysHowOursStands(t *testing.T) {
	var out strings.Builder
	c := Comparison{Group: "hop", Case: "payload=64B", Bytes: 64, Results: []Result{
		{Name: "relay", Kind: Ours, Ns: 300, Low: 290, High: 310},
		{Name: "bufio", Kind: Floor, Ns: 100, Low: 90, High: 110},
	}}
	if err := c.Print(&out); err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(out.String(), "\n")
	if rows[0] != "hop/payload=64B" || !strings.HasSuffix(strings.TrimSpace(rows[3]), "3.00x") {
		t.Errorf("the table has no 3.00x behind bufio:\n%s", out.String())
	}
}
