package stats_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/stats"
)

func TestACancelWithoutAReasonHasACode(t *testing.T) {
	var end stats.Terminated
	end.Cancelled(frame.CancelReason{})
	require.Equal(t, stats.Terminated{Kind: stats.KindCancelled, CancelCode: "CANCELLED"}, end)
	got, err := json.Marshal(end)
	require.NoError(t, err)
	require.NotContains(t, string(got), "cancel_class")
	require.NotContains(t, string(got), "cancel_reason")
}

func TestTheTextsOfAReasonAreCopied(t *testing.T) {
	code := []byte("ABORTED")
	var end stats.Terminated
	end.Cancelled(frame.CancelReason{Code: code})
	clear(code)
	require.Equal(t, "ABORTED", end.CancelCode)
}

func TestHistoryHasThe64NewestAndCountsAll(t *testing.T) {
	var h stats.History
	require.Empty(t, h.Recent())
	require.Equal(t, map[stats.Kind]uint64{}, h.ByKind())
	kinds := []stats.Kind{stats.KindEnd, stats.KindErr, stats.KindEnd}
	for n := range uint64(150) {
		h.Add(stats.Terminated{RID: frame.Number(n), Kind: kinds[n%3]})
		recent := h.Recent()
		require.Len(t, recent, int(min(n+1, 64)))
		for i, r := range recent {
			require.Equal(t, frame.Number(n+1-uint64(len(recent))+uint64(i)), r.RID)
		}
	}
	require.Equal(t, map[stats.Kind]uint64{stats.KindEnd: 100, stats.KindErr: 50}, h.ByKind())

	h.ByKind()[stats.KindEnd], h.Recent()[0].Kind = 0, "changed"
	require.EqualValues(t, 100, h.ByKind()[stats.KindEnd])
	require.NotEqual(t, stats.Kind("changed"), h.Recent()[0].Kind)
}
