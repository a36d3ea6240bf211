package stats_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/stats"
)

func TestEachLossCountsOnceInItsFamily(t *testing.T) {
	var c stats.Counters
	require.Equal(t, stats.Drops{ByReason: map[stats.Reason]uint64{}, ByReasonFrameType: map[stats.Reason]map[string]uint64{}}, c.Drops())
	require.Equal(t, stats.Stragglers{ByFrameType: map[string]uint64{}}, c.Stragglers())

	c.Drop(stats.NoRoute, frame.TypeChunk)
	c.Drop(stats.NoRoute, frame.TypeChunk)
	c.Drop(stats.NoRoute, frame.TypeStreamStart)
	c.Drop(stats.ChannelClosed, frame.TypeEnd)
	c.Drop(stats.CreditViolation, frame.TypeChunk)
	c.Drop(stats.Cancelled, frame.TypeLog)
	c.Drop(stats.MasterDied, frame.TypeHello)
	c.Straggler(frame.TypeCredit)
	c.Straggler(frame.TypeCredit)
	c.Straggler(frame.TypePolicy)
	c.Overrun()

	require.Equal(t, stats.Drops{
		Total: 7,
		ByReason: map[stats.Reason]uint64{
			"no_route": 3, "channel_closed": 1, "credit_violation": 1, "cancelled": 1, "master_died": 1,
		},
		ByReasonFrameType: map[stats.Reason]map[string]uint64{
			"no_route": {"chunk": 2, "stream_start": 1}, "channel_closed": {"end": 1}, "credit_violation": {"chunk": 1},
			"cancelled": {"log": 1}, "master_died": {"hello": 1},
		},
	}, c.Drops())
	require.Equal(t, stats.Stragglers{Total: 3, ByFrameType: map[string]uint64{"credit": 2, "policy": 1}}, c.Stragglers())
	require.Equal(t, []uint64{7, 3, 1}, []uint64{c.DropsTotal(), c.StragglersTotal(), c.Overruns()})
}

func TestFramesOfUnknownTypesAreCountedToo(t *testing.T) {
	var c stats.Counters
	for _, typ := range []frame.Type{2, 16, 255} {
		c.Drop(stats.NoRoute, typ)
		c.Straggler(typ)
	}
	require.Equal(t, map[stats.Reason]map[string]uint64{"no_route": {"unknown": 3}}, c.Drops().ByReasonFrameType)
	require.Equal(t, map[string]uint64{"unknown": 3}, c.Stragglers().ByFrameType)
}

func TestAReasonThatIsNonePanics(t *testing.T) {
	var c stats.Counters
	require.PanicsWithValue(t, "stats: lost is no reason for a drop", func() { c.Drop("lost", frame.TypeEnd) })
}

func TestASnapshotAgreesWithItselfWhileFramesAreDropped(t *testing.T) {
	var c stats.Counters
	var writers sync.WaitGroup
	const each = 5000
	for _, r := range []stats.Reason{stats.NoRoute, stats.Cancelled} {
		writers.Go(func() {
			for range each {
				c.Drop(r, frame.TypeChunk)
				c.Drop(r, frame.TypeEnd)
				c.Straggler(frame.TypeChunk)
			}
		})
	}
	check := func() stats.Drops {
		d := c.Drops()
		var byReason, byType uint64
		for r, n := range d.ByReason {
			byReason += n
			for _, n := range d.ByReasonFrameType[r] {
				byType += n
			}
		}
		if byReason != d.Total || byType != d.Total {
			t.Errorf("Drops = %+v: %d by reason and %d by type, want the total", d, byReason, byType)
		}
		return d
	}
	for range 100 {
		check()
	}
	writers.Wait()
	require.EqualValues(t, 4*each, check().Total)
	require.EqualValues(t, 2*each, c.StragglersTotal())
}

func TestCountingTakesNoMemory(t *testing.T) {
	var c stats.Counters
	n := testing.AllocsPerRun(100, func() {
		c.Drop(stats.MasterDied, frame.TypeChunk)
		c.Straggler(frame.TypeEnd)
		c.Overrun()
	})
	require.Zero(t, n)
}
