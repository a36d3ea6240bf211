package stream_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/internal/stream"
)

func TestChunkSizeFitsIntoAFrame(t *testing.T) {
	for _, test := range []struct {
		maxFrame, maxChunk uint64
		want               int
	}{
		{frame.DefaultMaxFrame, frame.DefaultMaxChunk, frame.DefaultMaxChunk},
		{100_000, frame.DefaultMaxChunk, 100_000 - 4096},
		{1000, frame.DefaultMaxChunk, 500},
		{1, 1, 1},
		{1 << 63, 1 << 63, frame.HardMaxFrame - 4096},
	} {
		got := stream.ChunkSize(frame.Limits{MaxFrame: test.maxFrame, MaxChunk: test.maxChunk})
		require.Equal(t, test.want, got, "%+v", test)
	}
}

// arrive reports whether n CHUNKs were within the credit.
func arrive(c *stream.Credit, n int) error {
	for range n {
		if err := c.Arrive(); err != nil {
			return err
		}
	}
	return nil
}

// The sender's link may have given it more than was negotiated here, but never more than the default.
func TestWindowIsNotSmallerThanTheDefault(t *testing.T) {
	for initial, window := range map[uint64]int{1: 32, 8: 32, 32: 32, 100: 100} {
		var c stream.Credit
		require.NoError(t, c.Limit(initial))
		require.NoError(t, arrive(&c, window))
		require.ErrorIs(t, c.Arrive(), flow.ErrCreditViolation)
	}
}

func TestBatchesAreThoseOfWhatWasNegotiated(t *testing.T) {
	for initial, batch := range map[uint64]int{1: 1, 2: 1, 3: 1, 8: 4, 9: 4, 32: 16, 100: 50} {
		var c stream.Credit
		require.NoError(t, c.Limit(initial))
		require.NoError(t, arrive(&c, 32))
		for round := range 32 / batch {
			for i := 1; i <= batch; i++ {
				want := uint64(0)
				if i == batch {
					want = uint64(batch)
				}
				require.Equal(t, want, c.Consume(), "initial %d, round %d, chunk %d", initial, round, i)
			}
		}
		require.Equal(t, uint64(0), c.Flush())
	}
}

// CHUNKs may come before it is known what they are of.
func TestChunksBeforeTheLimit(t *testing.T) {
	var few, many stream.Credit
	require.NoError(t, arrive(&few, 32))
	require.Equal(t, uint64(0), few.Flush())
	require.Equal(t, uint64(0), few.Drain())
	require.NoError(t, few.Limit(4))
	require.ErrorIs(t, few.Arrive(), flow.ErrCreditViolation)
	require.NoError(t, arrive(&many, 33))
	require.ErrorIs(t, many.Limit(4), flow.ErrCreditViolation)
}

// The first piece of an item is consumed with the item, or before a wait, and never twice.
func TestFirstPieceOfAnItem(t *testing.T) {
	var c stream.Credit
	require.NoError(t, c.Limit(32))
	require.NoError(t, arrive(&c, 32))
	c.Gather()
	require.Equal(t, uint64(1), c.Continue())
	require.True(t, c.Whole())
	require.Equal(t, uint64(0), c.Consume())
	require.Equal(t, uint64(1), c.Flush())

	c.Gather()
	require.Equal(t, uint64(1), c.Flush())
	require.Equal(t, uint64(0), c.Flush())
	require.False(t, c.Whole())
	require.True(t, c.Whole(), "of the next item")
}

func TestDrain(t *testing.T) {
	var c stream.Credit
	require.NoError(t, c.Limit(32))
	require.NoError(t, arrive(&c, 5))
	require.Equal(t, uint64(0), c.Consume())
	require.Equal(t, uint64(5), c.Drain())
	require.Equal(t, uint64(0), c.Drain())
	require.NoError(t, arrive(&c, 32))
}

func TestGates(t *testing.T) {
	var g stream.Gates
	id := frame.NewUUID()
	grant := func(stream []byte, n uint64, d frame.Direction) {
		f := frame.NewCredit(id, stream, n, d)
		g.Grant(&f, frame.RequestDirection)
	}
	a := g.Open("a", 1)
	grant(nil, 1, frame.RequestDirection)
	require.Equal(t, uint64(2), a.Available(), "the only one")
	b := g.Open("b", 1)
	grant(nil, 1, frame.RequestDirection)
	grant([]byte("a"), 1, frame.ResponseDirection)
	grant([]byte("c"), 1, frame.RequestDirection)
	require.Equal(t, []uint64{2, 1}, []uint64{a.Available(), b.Available()})
	grant([]byte("b"), 5, frame.RequestDirection)
	require.Equal(t, uint64(6), b.Available())
	g.Forget("b")
	g.Forget("unknown")
	grant([]byte("b"), 1, frame.RequestDirection)
	grant(nil, 1, frame.RequestDirection)
	require.Equal(t, []uint64{3, 6}, []uint64{a.Available(), b.Available()})

	gone := errors.New("gone")
	g.CloseAll(gone)
	g.CloseAll(errors.New("again"))
	require.Equal(t, gone, a.Acquire(context.Background(), 1))
	require.NoError(t, b.Acquire(context.Background(), 1), "a stream that was sent is no concern any more")
	require.Equal(t, gone, g.Open("d", 1).Acquire(context.Background(), 1), "those to come too")
}
