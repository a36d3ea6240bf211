package endtoend

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/relaytest"
	"github.com/cosim-go/cosim/relay/stats"
)

const (
	soakDefault  = 5 * time.Second // in the usual tests; ENDTOEND_SOAK has another one, such as 30m
	soakRound    = 20 * time.Second
	soakAtOnce   = 30
	soakPayload  = 256 << 10 // bytes
	soakChurn    = 300 * time.Millisecond
	soakMeasures = 50
)

// Requirements: W1, W3, N3. Hosts come, leave, lose their sockets and their cartridges, while requests go on: memory, goroutines and files stay
// as they are. ENDTOEND_SOAK says for how long.
func TestSoak(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds, and says nothing before it has gone on for minutes")
	}
	length := soakDefault
	if text := os.Getenv("ENDTOEND_SOAK"); text != "" {
		var err error
		length, err = time.ParseDuration(text)
		require.NoError(t, err)
	}
	relaytest.NoLeaks(t)
	seed := randomSeed(t)
	t.Logf("seed %d (ENDTOEND_SEED=%d repeats it)", seed, seed)
	s := newSoak(t, seed)
	var first, last usage
	for begun, round := time.Now(), 0; round < 2 || time.Since(begun) < length; round++ {
		s.round(min(soakRound, length/2))
		last = s.measure()
		if round == 0 {
			first = last
		}
		t.Logf("after %v: %d requests, %d changes; %v", time.Since(begun).Round(time.Second), s.requests.Load(), s.changes.Load(), last)
	}
	assert.LessOrEqual(t, last.goroutines, first.goroutines+5)
	assert.LessOrEqual(t, last.files, first.files+5)
	assert.LessOrEqual(t, last.heap, 2*first.heap+(32<<20))
	t.Logf("how requests ended: %v", s.report())
}

// A soak is a rig whose hosts come and go.
type soak struct {
	*rig
	rnd               *rand.Rand
	block             []byte
	names             map[string][]string // of the cartridges of a host
	requests, changes atomic.Int64

	mu    sync.Mutex
	codes map[string]int
}

func newSoak(t testing.TB, seed uint64) *soak {
	s := &soak{
		rig: newRig(t), rnd: rand.New(rand.NewPCG(seed, 2)), block: make([]byte, 2*soakPayload), codes: map[string]int{},
		names: map[string][]string{"a": {"c0", "c1"}, "b": {"c2"}, "c": {"c3"}},
	}
	for i := 0; i < len(s.block); i += 8 {
		binary.LittleEndian.PutUint64(s.block[i:], s.rnd.Uint64())
	}
	for _, id := range []string{"a", "b", "c"} {
		s.startHost(id, s.names[id]...)
	}
	return s
}

// round makes requests and changes for some time, and waits until all requests have ended.
func (s *soak) round(length time.Duration) {
	var workers sync.WaitGroup
	over := time.Now().Add(length)
	for range soakAtOnce {
		rnd := rand.New(rand.NewPCG(s.rnd.Uint64(), 3))
		workers.Go(func() {
			for time.Now().Before(over) {
				s.request(rnd)
			}
		})
	}
	tick := time.NewTicker(soakChurn)
	defer tick.Stop()
	for time.Now().Before(over) {
		<-tick.C
		s.change()
		s.changes.Add(1)
	}
	workers.Wait()
}

func (s *soak) request(rnd *rand.Rand) {
	q := newRequest(int(s.requests.Add(1)), rnd, []string{"c0", "c1", "c2", "c3"}, s.block, soakPayload)
	end := q.run(s.t.Context(), s.sw, &kills{})
	code := "none"
	var e *call.Error
	switch {
	case end.err == nil:
		if err := q.judgeSuccess(); err != nil {
			s.t.Error(err)
		}
	case !errors.As(end.err, &e):
		s.t.Error(q.errorf("ended with %v, which is no error of the protocol", end.err))
	default:
		code = e.Code
		if e.Attribution == frame.AttributionInternal {
			s.t.Error(q.errorf("ended with %v", e))
		}
	}
	if !end.same {
		s.t.Error(q.errorf("%d bytes came back, not those that were sent", end.size))
	}
	s.mu.Lock()
	s.codes[code]++
	s.mu.Unlock()
}

// change ends a host, in one way or another, and has it come back; or kills the process of a cartridge.
func (s *soak) change() {
	ids := []string{"a", "b", "c"}
	id := ids[s.rnd.IntN(len(ids))]
	h := s.hosts[id]
	switch s.rnd.IntN(4) {
	case 0:
		s.stopHost(id)
		s.startHost(id, s.names[id]...)
	case 1: // the socket is cut, from the host's side, in the middle of whatever goes on
		h.socket.Close()
		s.stopHost(id)
		s.startHost(id, s.names[id]...)
	case 2:
		h.KillOutOfMemory(registration(s.t, s.mark, s.names[id][0]).Install, "by the test")
	case 3:
		require.NoError(s.t, s.sw.SendState(id, []byte(`{"round": true}`)))
	}
}

// report says how requests ended, by code.
func (s *soak) report() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.codes
}

// A usage is what the process needs when nothing goes on.
type usage struct {
	heap       uint64 // bytes
	goroutines int
	files      int
}

// measure waits until what has ended is gone, and returns the least that is needed then.
func (s *soak) measure() usage {
	eventually(s.t, func() bool { return len(s.sw.Stats().Requests.Active) == 0 }, "no request is active")
	least, tick := measureNow(s.t), time.NewTicker(20*time.Millisecond)
	defer tick.Stop()
	for range soakMeasures {
		<-tick.C
		now := measureNow(s.t)
		least = usage{min(least.heap, now.heap), min(least.goroutines, now.goroutines), min(least.files, now.files)}
	}
	assert.Zero(s.t, s.sw.Stats().Drops.ByReason[stats.NoRoute])
	return least
}

func measureNow(t testing.TB) usage {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	files, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	return usage{m.HeapAlloc, runtime.NumGoroutine(), len(files)}
}

func (u usage) String() string {
	return fmt.Sprintf("%.1f MiB of heap, %d goroutines, %d files", float64(u.heap)/(1<<20), u.goroutines, u.files)
}
