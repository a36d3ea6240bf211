package measure

import (
	"errors"
	"fmt"
	"runtime"
	"time"
)

// Options say how long to measure. The zero value means the defaults.
type Options struct {
	Samples int           // of each contender; 0 means 7
	Time    time.Duration // of one sample, about; 0 means 100 ms
}

// A Result is what a scenario came to for one contender. Times are in ns for one operation and medians over
// the samples.
type Result struct {
	Name    string  `json:"name"`
	Kind    Kind    `json:"kind"`
	Ns      float64 `json:"ns"`            // an operation; of trips, the median trip
	Low     float64 `json:"low"`           // the fastest sample's Ns
	High    float64 `json:"high"`          // the slowest sample's
	P99     float64 `json:"p99,omitempty"` // of trips: 99 of 100 were not slower
	Allocs  float64 `json:"allocs"`        // heap objects allocated for an operation, both ends together
	AllocBy float64 `json:"alloc_bytes"`   // their bytes
	Objects float64 `json:"objects"`       // heap objects allocated in a sample, those of the measurement too
}

// A Comparison is a scenario measured.
type Comparison struct {
	Group   string   `json:"group"`
	Case    string   `json:"case"`
	Bytes   int      `json:"bytes"`
	Results []Result `json:"results"` // in the order of the scenario's contenders
}

// Result finds a contender's result by name.
func (c Comparison) Result(name string) (Result, bool) {
	for _, r := range c.Results {
		if r.Name == name {
			return r, true
		}
	}
	return Result{}, false
}

// Compare opens every contender of a scenario and samples them in turn. Each round begins with another one,
// so that none always follows the same neighbour.
func Compare(s Scenario, o Options) (Comparison, error) {
	if o.Samples <= 0 {
		o.Samples = 7
	}
	if o.Time <= 0 {
		o.Time = 100 * time.Millisecond
	}
	entries, err := openAll(s)
	if err == nil {
		err = rounds(entries, s.Trip, o)
	}
	for _, e := range entries {
		if closing := e.runner.Close(); closing != nil && err == nil {
			err = fmt.Errorf("closing %s: %w", e.Name, closing)
		}
	}
	if err != nil {
		return Comparison{}, fmt.Errorf("%s: %w", s.Name(), err)
	}
	c := Comparison{Group: s.Group, Case: s.Case, Bytes: s.Bytes}
	for _, e := range entries {
		c.Results = append(c.Results, e.result())
	}
	return c, nil
}

// An entry is a contender of a running comparison and its samples so far.
type entry struct {
	Contender
	runner  Runner
	turns   int // operations of one sample
	samples []reading
}

func openAll(s Scenario) ([]*entry, error) {
	var entries []*entry
	for _, c := range s.Contenders {
		runner, err := c.Open()
		if err != nil {
			return entries, fmt.Errorf("opening %s: %w", c.Name, err)
		}
		entries = append(entries, &entry{Contender: c, runner: runner})
	}
	if len(entries) == 0 {
		return nil, errors.New("nobody to compare")
	}
	return entries, nil
}

func rounds(entries []*entry, trip bool, o Options) error {
	for _, e := range entries {
		turns, err := calibrate(e.runner, o.Time)
		if err != nil {
			return fmt.Errorf("%s: %w", e.Name, err)
		}
		e.turns = turns
	}
	for round := range o.Samples {
		for i := range entries {
			e := entries[(round+i)%len(entries)]
			r, err := read(e.runner, e.turns, trip)
			if err != nil {
				return fmt.Errorf("%s: %w", e.Name, err)
			}
			e.samples = append(e.samples, r)
		}
	}
	return nil
}

// mostTurns bounds the operations of a sample, for runners that take no time.
const mostTurns = 1 << 28

// calibrate finds how many operations take about the given time. It warms up the runner by doing them.
func calibrate(r Runner, d time.Duration) (int, error) {
	for n := 1; ; {
		start := time.Now()
		if err := r.Run(n); err != nil {
			return 0, err
		}
		took := max(time.Since(start), 1)
		turns := int(min(max(float64(n)*float64(d)/float64(took), 1), mostTurns))
		if took >= d/4 || n == mostTurns {
			return turns, nil
		}
		n = min(turns, n*100)
	}
}

// A reading is one sample: an operation's ns, the 99th percentile of trips, what an operation allocated,
// and how many objects the sample did in all.
type reading struct{ ns, p99, allocs, bytes, objects float64 }

func read(r Runner, turns int, trip bool) (reading, error) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	out, err := timed(r, turns, trip)
	runtime.ReadMemStats(&after)
	out.objects = float64(after.Mallocs - before.Mallocs)
	out.allocs = out.objects / float64(turns)
	out.bytes = float64(after.TotalAlloc-before.TotalAlloc) / float64(turns)
	return out, err
}

func timed(r Runner, turns int, trip bool) (reading, error) {
	if !trip {
		start := time.Now()
		err := r.Run(turns)
		return reading{ns: float64(time.Since(start)) / float64(turns)}, err
	}
	trips := make([]float64, turns)
	for i := range trips {
		start := time.Now()
		if err := r.Run(1); err != nil {
			return reading{}, err
		}
		trips[i] = float64(time.Since(start))
	}
	return reading{ns: quantile(trips, 0.5), p99: quantile(trips, 0.99)}, nil
}

func (e *entry) result() Result {
	column := func(of func(reading) float64) []float64 {
		values := make([]float64, len(e.samples))
		for i, s := range e.samples {
			values[i] = of(s)
		}
		return values
	}
	ns := column(func(r reading) float64 { return r.ns })
	return Result{
		Name: e.Name, Kind: e.Kind,
		Ns: quantile(ns, 0.5), Low: quantile(ns, 0), High: quantile(ns, 1),
		P99:     quantile(column(func(r reading) float64 { return r.p99 }), 0.5),
		Allocs:  quantile(column(func(r reading) float64 { return r.allocs }), 0.5),
		AllocBy: quantile(column(func(r reading) float64 { return r.bytes }), 0.5),
		Objects: quantile(column(func(r reading) float64 { return r.objects }), 0.5),
	}
}
