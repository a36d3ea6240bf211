package bridge_test

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/cosim-go/cosim/relay/relaytest"
)

// strayAllocs is how many allocations a measurement of hundreds of thousands of frames may see:
// the Go runtime makes a few by itself, such as for a goroutine that has to wait, and the race
// detector some more.
const strayAllocs = 50

// Requirement: R1
func TestTheBridgeDoesNotAllocateForFrames(t *testing.T) {
	const frames, times = 10_000, 10
	order := map[string]relaytest.Disorder{
		"in order":     {},
		"out of order": {Window: 8, Rand: rand.New(rand.NewPCG(3, 0))},
	}
	for name, disorder := range order {
		t.Run(name, func(t *testing.T) {
			g := newTraffic(t, 1, 64, mixedSizes)
			tape := g.tape(t, frames)
			if g.begun != g.ended || g.begun < 300 {
				t.Fatalf("%d requests begin and %d end", g.begun, g.ended)
			}
			count := len(tape)
			once := bytes.Join(relaytest.Shuffle(tape, disorder), nil)
			s := start(t, nil, nil)
			play(t, s, once, 2) // all that is kept for later is there
			allocs := play(t, s, once, times)
			perFrame := float64(allocs) / float64(2*times*count)
			t.Logf("%d allocations for %d frames, %.6f a frame", allocs, 2*times*count, perFrame)
			if allocs > strayAllocs {
				t.Errorf("%d allocations for %d frames, want none but %d strays", allocs, 2*times*count, strayAllocs)
			}
			s.closeAll()
			if got := s.slave.Stats(); got.ToLocal.Frames != uint64((times+2)*count) || got.ToSocket != got.ToLocal || got.ToLocal.Held != 0 {
				t.Errorf("Stats = %+v, want %d frames each way", got, (times+2)*count)
			}
		})
	}
}

// play sends a tape some times both ways at once and returns how many allocations were made
// until all of it has arrived.
func play(t *testing.T, s *span, tape []byte, times int) uint64 {
	t.Helper()
	var before, after runtime.MemStats
	var busy sync.WaitGroup
	begin := make(chan struct{})
	for _, c := range []relaytest.Conn{s.host, s.remote} {
		busy.Go(func() {
			<-begin
			for range times {
				if _, err := c.Write(tape); err != nil {
					t.Error(err)
				}
			}
		})
		buf := make([]byte, 256<<10)
		busy.Go(func() {
			<-begin
			for left := times * len(tape); left > 0; {
				n, err := c.Read(buf[:min(left, len(buf))])
				if err != nil {
					t.Errorf("%v with %d bytes to come", err, left)
					return
				}
				left -= n
			}
		})
	}
	runtime.ReadMemStats(&before)
	close(begin)
	busy.Wait()
	runtime.ReadMemStats(&after)
	return after.Mallocs - before.Mallocs
}
