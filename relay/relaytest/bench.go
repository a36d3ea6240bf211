package relaytest

import (
	"io"
	"slices"
	"testing"
	"time"
)

// benchRounds is how often a benchmark goes from the frames to their floor and back.
const benchRounds = 8

// BenchLink measures the frame path over connections that open makes, which may be of any
// kind: CHUNK frames from one end to the other, encoded, batched and decoded, for payloads
// from 64 B to 256 KiB, and the round trip of one of 64 B.
//
// Each is a sub-benchmark with a name that stays, such as hop/payload=1KiB. An operation is a
// frame, and bytes are those of payloads. The metric x-raw is the ratio to the same number of
// bytes without frames over a connection of the same kind, measured by turns in the same run;
// p50-ns is the median of the round trips.
//
// open is called for each sub-benchmark; BenchLink closes what it returns.
func BenchLink[C io.ReadWriteCloser](b *testing.B, open func() (client, server C, err error)) {
	benchAll(b, linkCases(open))
}

// BenchBridge measures the frame path through a bridge between two connections that open makes:
// from the far end of local to that of socket, and there and back. The bridge runs until the
// far ends close; it may close its own. For a slave:
//
//	relaytest.BenchBridge(b, relaytest.SocketPair, func(local, socket relaytest.Conn) error {
//		return bridge.NewSlave(local, nil).Run(b.Context(), socket, nil)
//	})
//
// The metric x-copy is the ratio to a loop in place of the bridge that reads and writes with a
// buffer of 64 KiB; else all is as for [BenchLink], bridge/payload=1KiB being one of the names.
func BenchBridge[C io.ReadWriteCloser](b *testing.B, open func() (client, server C, err error), bridge func(local, socket C) error) {
	benchAll(b, bridgeCases(open, bridge))
}

// BenchCodec measures the codec without a connection: encode, decode and check. The metric
// x-memcpy is the ratio to copying the frame.
func BenchCodec(b *testing.B) { benchAll(b, codecCases()) }

func benchAll(b *testing.B, cases []benchCase) {
	for _, c := range cases {
		b.Run(c.name, c.bench)
	}
}

func (c *benchCase) bench(b *testing.B) {
	b.StopTimer()
	frames, floor, err := c.open()
	if err != nil {
		b.Fatal(err)
	}
	defer frames.close()
	defer floor.close()
	b.SetBytes(int64(c.payload))
	b.ReportAllocs()
	rounds := min(benchRounds, b.N)
	if c.latency {
		frames.begin((b.N + rounds - 1) / rounds)
	}
	base, err := floor.time(min(b.N, 64), c.latency) // a first idea, and both are warm then
	if err != nil {
		b.Fatal(err)
	}
	var s samples
	for i := range rounds {
		n := b.N*(i+1)/rounds - b.N*i/rounds
		b.StartTimer()
		took, err := frames.time(n, c.latency)
		b.StopTimer()
		if err != nil {
			b.Fatal(err)
		}
		// Where the floor is far below or above, it is not to take all the time.
		if base, err = floor.time(max(1, min(n, int(float64(n)*took/base))), c.latency); err != nil {
			b.Fatal(err)
		}
		s.add(took, base)
	}
	if c.latency {
		b.ReportMetric(median(s.frames), "p50-ns")
	}
	b.ReportMetric(s.ratio(), c.metric)
}

// time runs n frames and returns the nanoseconds of one: on average, or of the median trip.
func (p *path) time(n int, latency bool) (float64, error) {
	begin := time.Now()
	if err := p.run(n); err != nil {
		return 0, err
	}
	if latency {
		slices.Sort(p.trips)
		return float64(p.trips[len(p.trips)/2]), nil
	}
	return float64(time.Since(begin)) / float64(n), nil
}

// samples are the times of a frame, and of its floor in the same round.
type samples struct{ frames, floor []float64 }

func (s *samples) add(frame, floor float64) {
	s.frames = append(s.frames, frame)
	s.floor = append(s.floor, floor)
}

// ratio returns the median over the rounds.
func (s *samples) ratio() float64 {
	ratios := make([]float64, len(s.frames))
	for i := range ratios {
		ratios[i] = s.frames[i] / max(s.floor[i], 1e-3)
	}
	return median(ratios)
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	half := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[half]
	}
	return (sorted[half-1] + sorted[half]) / 2
}
