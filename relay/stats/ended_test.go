package stats_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/stats"
)

func TestARequestEndedLatelyForAMinuteOrAsOneOf64(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := stats.NewEnded(nil)
		require.False(t, e.Recent(frame.Number(0)))
		require.Empty(t, e.Ring())
		for n := range uint64(100) {
			e.Add(frame.Number(n))
		}
		require.Len(t, e.Ring(), 64)
		require.Equal(t, []frame.ID{frame.Number(36), frame.Number(99)}, []frame.ID{e.Ring()[0], e.Ring()[63]})
		time.Sleep(time.Minute)
		require.True(t, e.Recent(frame.Number(0)), "after a minute")
		time.Sleep(time.Nanosecond)
		require.False(t, e.Recent(frame.Number(0)), "after more than a minute")
		require.False(t, e.Recent(frame.Number(35)), "the 65th newest")
		time.Sleep(time.Hour)
		require.True(t, e.Recent(frame.Number(36)), "the 64th newest")
		require.False(t, e.Recent(frame.Number(100)), "one that never ended")
	})
}

func TestNoMoreThan8192RequestsAreRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := stats.NewEnded(nil)
		for n := range uint64(20_000) {
			e.Add(frame.Number(n))
		}
		require.False(t, e.Recent(frame.Number(20_000-8193)))
		require.True(t, e.Recent(frame.Number(20_000-8192)))
	})
}

func TestRequestsOfBothFormsAndOfNoneDiffer(t *testing.T) {
	e := stats.NewEnded(nil)
	e.Add(frame.Number(7))
	require.False(t, e.Recent(frame.UUID([16]byte{15: 7})))
	require.False(t, e.Recent(frame.ID{}))
}

// endedTwin does what an Ended does, by its description alone.
type endedTwin struct {
	ids []frame.ID // the oldest first
	at  map[frame.ID]time.Time
}

func (e *endedTwin) add(id frame.ID, now time.Time) {
	e.ids = slices.DeleteFunc(e.ids, func(o frame.ID) bool { return o == id })
	e.ids = append(e.ids, id)
	e.at[id] = now
}

func (e *endedTwin) ring() []frame.ID { return e.ids[max(0, len(e.ids)-64):] }

func (e *endedTwin) recent(id frame.ID, now time.Time) bool {
	i := slices.Index(e.ids, id)
	age := len(e.ids) - i // 1 is the newest
	return i >= 0 && (age <= 64 || age <= 8192 && now.Sub(e.at[id]) <= time.Minute)
}

func TestEndedIsItsTwin(t *testing.T) {
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		now := time.Unix(0, 0)
		e, twin := stats.NewEnded(func() time.Time { return now }), &endedTwin{at: map[frame.ID]time.Time{}}
		few := 1 + rnd.Uint64N(500)
		for step := range 3000 {
			id := frame.Number(rnd.Uint64N(few))
			switch rnd.IntN(4) {
			case 0, 1:
				e.Add(id)
				twin.add(id, now)
			case 2:
				now = now.Add(time.Duration(rnd.Int64N(int64(500 * time.Millisecond))))
			case 3:
				if got, want := e.Recent(id), twin.recent(id, now); got != want {
					t.Fatalf("seed %d, step %d: Recent(%v) = %v, want %v", seed, step, id, got, want)
				}
			}
			if step%50 == 0 && !slices.Equal(e.Ring(), twin.ring()) {
				t.Fatalf("seed %d, step %d: Ring = %v, want %v", seed, step, e.Ring(), twin.ring())
			}
		}
	}
}

func TestEndedTakesNoMoreMemoryWithTime(t *testing.T) {
	now := time.Unix(0, 0)
	e := stats.NewEnded(func() time.Time { return now })
	var n uint64
	add := func() {
		for range 100 {
			n++
			now = now.Add(time.Millisecond)
			e.Add(frame.Number(n))
		}
	}
	for range 200 {
		add()
	}
	require.Less(t, testing.AllocsPerRun(100, add), 1.0)
}
