package endtoend

import (
	"crypto/rand"
	"encoding/binary"
	mathrand "math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/cosim-go/cosim/relay/relaytest"
	"github.com/cosim-go/cosim/relay/stats"
)

const (
	manyRequests = 10_000
	raceRequests = 1500 // with the race detector
	fewRequests  = 300  // with -short
	atOnce       = 100
)

// Requirements: R1, C4, W1, W2. An engine, a switch, two hosts and four cartridge processes carry thousands of requests, a hundred
// at a time, of up to 8 MiB and with delays, while requests are cancelled and processes killed. Each ends once and as
// it should, and nothing is left.
func TestEveryRequestEndsOnceAndNothingIsLeft(t *testing.T) {
	relaytest.NoLeaks(t)
	seed := randomSeed(t)
	t.Logf("seed %d (ENDTOEND_SEED=%d repeats it)", seed, seed)
	total := manyRequests
	switch {
	case testing.Short():
		total = fewRequests
	case raceDetector:
		total = raceRequests
	}
	r := newRig(t)
	r.ended.seen = new(sync.Map)
	a := r.startHost("a", "c0", "c1")
	b := r.startHost("b", "c2", "c3")

	var k kills
	var counts tally
	begun := time.Now()
	r.runAll(seed, total, []string{"c0", "c1", "c2", "c3"}, &k, &counts)
	t.Logf("%d requests in %v: %d fine, %d refused, %d cancelled, %d killed; %d MiB came back", total, time.Since(begun).Round(time.Millisecond),
		counts.fine.Load(), counts.refused.Load(), counts.cancelled.Load(), counts.killed.Load(), counts.bytes.Load()>>20)
	if !testing.Short() {
		assert.GreaterOrEqual(t, 3*(counts.cancelled.Load()+counts.killed.Load()), int64(total), "requests that ended by a cancel or a kill")
	}
	r.checkSwitch(total)
	checkHost(t, a)
	checkHost(t, b)
}

func randomSeed(t *testing.T) uint64 {
	if text := os.Getenv("ENDTOEND_SEED"); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return seed
	}
	var b [8]byte
	rand.Read(b[:])
	return binary.LittleEndian.Uint64(b[:])
}

// runAll makes requests, some at a time, and judges how they end.
func (r *rig) runAll(seed uint64, total int, names []string, k *kills, counts *tally) {
	rnd := mathrand.New(mathrand.NewPCG(seed, 1))
	block := make([]byte, 2*maxPayload)
	for i := 0; i < len(block); i += 8 {
		binary.LittleEndian.PutUint64(block[i:], rnd.Uint64())
	}
	queue := make(chan *request)
	var workers sync.WaitGroup
	for range atOnce {
		workers.Go(func() {
			for q := range queue {
				since := time.Now()
				if err := q.judge(q.run(r.t.Context(), r.sw, k), since, k, counts); err != nil {
					r.t.Error(err)
				}
			}
		})
	}
	for i := range total {
		queue <- newRequest(i, rnd, names, block, maxPayload)
	}
	close(queue)
	workers.Wait()
}

// checkSwitch checks that every request was ended once, peer calls too, and none was lost.
func (r *rig) checkSwitch(total int) {
	eventually(r.t, func() bool { return len(r.sw.Stats().Requests.Active) == 0 }, "no request is active")
	s := r.sw.Stats()
	var ended uint64
	for _, n := range s.Requests.TerminatedByKind {
		ended += n
	}
	assert.Equal(r.t, s.Requests.TotalRegistered, ended, "requests that ended, of those that were registered")
	assert.Equal(r.t, int64(ended), r.ended.total.Load(), "requests whose end was told")
	assert.Zero(r.t, r.ended.twice.Load(), "requests that ended twice")
	assert.GreaterOrEqual(r.t, ended, uint64(total))
	assert.Zero(r.t, s.Drops.ByReason[stats.NoRoute], "frames that found no way: %+v", s.Drops)
}

// checkHost checks that a host has forgotten all requests.
func checkHost(t testing.TB, h *runningHost) {
	eventually(t, func() bool {
		s := h.Stats()
		return s.IncomingRXIDs+s.OutgoingRIDs+s.IncomingToPeerRIDs+s.OutgoingMaxSeq == 0
	}, "the host's tables are empty")
	s := h.Stats()
	assert.Zero(t, s.Drops.ByReason[stats.NoRoute], "frames that found no way: %+v", s.Drops)
	assert.Zero(t, s.RoutingGCEvicted)
}

// eventually waits for what is about to happen.
func eventually(t testing.TB, ok func() bool, what string) {
	t.Helper()
	assert.Eventually(t, ok, 10*time.Second, 5*time.Millisecond, what)
}
