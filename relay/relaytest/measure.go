package relaytest

import (
	"fmt"
	"io"
	"runtime"
	"time"
)

// A Figure is what a measurement came to. Times are medians over its rounds.
type Figure struct {
	Name    string  // such as hop/payload=1KiB; never changes
	Payload int     // bytes of each frame
	Frame   float64 // nanoseconds a frame takes; of a round trip, both ways
	Floor   string  // what it is compared with, such as raw copy
	Base    float64 // nanoseconds the floor takes
	Ratio   float64 // median of the ratios of each round
	Allocs  float64 // pieces of memory that a frame takes in this process, median too
}

// MeasureOptions are the options of [MeasureLink] and its kin. The zero value has the defaults.
type MeasureOptions struct {
	Rounds int           // of frames and floor by turns; 0 is 7
	Round  time.Duration // how long one side of a round takes, about; 0 is 20 ms
	Frames int           // of one side of a round; 0 is as many as Round has time for

	// Only, when not nil, says by their names what is measured.
	Only func(name string) bool

	// Each, when not nil, is called with each figure when it is there.
	Each func(Figure)
}

// MeasureCodec measures what [BenchCodec] does, outside of a test.
func MeasureCodec(o *MeasureOptions) ([]Figure, error) { return measureAll(codecCases(), o) }

// MeasureLink measures what [BenchLink] does, outside of a test.
func MeasureLink[C io.ReadWriteCloser](open func() (client, server C, err error), o *MeasureOptions) ([]Figure, error) {
	return measureAll(linkCases(open), o)
}

// MeasureBridge measures what [BenchBridge] does, outside of a test.
func MeasureBridge[C io.ReadWriteCloser](open func() (client, server C, err error), bridge func(local, socket C) error, o *MeasureOptions) ([]Figure, error) {
	return measureAll(bridgeCases(open, bridge), o)
}

func measureAll(cases []benchCase, o *MeasureOptions) ([]Figure, error) {
	options := MeasureOptions{}
	if o != nil {
		options = *o
	}
	if options.Rounds <= 0 {
		options.Rounds = 7
	}
	if options.Round <= 0 {
		options.Round = 20 * time.Millisecond
	}
	var figures []Figure
	for _, c := range cases {
		if options.Only != nil && !options.Only(c.name) {
			continue
		}
		f, err := c.measure(&options)
		if err != nil {
			return figures, fmt.Errorf("measuring %s: %w", c.name, err)
		}
		figures = append(figures, f)
		if options.Each != nil {
			options.Each(f)
		}
	}
	return figures, nil
}

func (c *benchCase) measure(o *MeasureOptions) (Figure, error) {
	frames, floor, err := c.open()
	if err != nil {
		return Figure{}, err
	}
	defer frames.close()
	defer floor.close()
	n, err := o.frames(frames)
	if err != nil {
		return Figure{}, err
	}
	m, err := o.frames(floor)
	if err != nil {
		return Figure{}, err
	}
	var s samples
	var allocs []float64
	for range o.Rounds {
		before := mallocs()
		took, err := frames.time(n, c.latency)
		if err != nil {
			return Figure{}, err
		}
		allocs = append(allocs, float64(mallocs()-before)/float64(n))
		base, err := floor.time(m, c.latency)
		if err != nil {
			return Figure{}, err
		}
		s.add(took, base)
	}
	return Figure{
		Name: c.name, Payload: c.payload, Frame: median(s.frames),
		Floor: c.floor, Base: median(s.floor), Ratio: s.ratio(),
		Allocs: median(allocs),
	}, nil
}

// mallocs counts what this process has allocated so far.
func mallocs() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}

// frames returns how many frames of a path make one side of a round.
func (o *MeasureOptions) frames(p *path) (int, error) {
	if o.Frames > 0 {
		return o.Frames, nil
	}
	return calibrate(p, o.Round)
}

// calibrate returns how many frames take about as long as that.
func calibrate(p *path, round time.Duration) (int, error) {
	for n := 1; ; {
		begin := time.Now()
		if err := p.run(n); err != nil {
			return 0, err
		}
		took := max(time.Since(begin), 1)
		if took >= round/2 || n >= 1<<30 {
			return max(1, int(float64(n)*float64(round)/float64(took))), nil
		}
		n = min(n*10, max(n+1, int(float64(n)*float64(round)/float64(took))))
	}
}
