package stats_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/stats"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func ptr[T any](v T) *T { return &v }

// full has a value in every field.
func full() stats.Switch {
	var c stats.Counters
	c.Drop(stats.NoRoute, frame.TypeStreamEnd)
	c.Drop(stats.NoRoute, frame.TypeChunk)
	c.Drop(stats.MasterDied, frame.TypeChunk)
	c.Straggler(frame.TypeCloseStream)
	host := stats.Host{
		Drops: c.Drops(), Stragglers: c.Stragglers(), OutgoingRIDs: 1, IncomingRXIDs: 2, IncomingToPeerRIDs: 3,
		OutgoingMaxSeq: 4, RoutingGCRuns: 5, RoutingGCEvicted: 6,
	}
	cancelled := stats.Terminated{
		XID: frame.Number(3), RID: frame.UUID([16]byte{1, 2, 3}), IsPeer: true, CapURN: "cap:effect=none", LifetimeMS: 1500,
		FramesIn: 1, FramesOut: 2, BytesIn: 3, BytesOut: 4,
	}
	cancelled.Cancelled(frame.CancelReason{Code: []byte("ABORTED"), Attribution: frame.AttributionResource, Message: []byte("no memory")})
	return stats.Switch{
		Requests: stats.Requests{
			Active: []stats.Active{
				{XID: frame.Number(9), RID: frame.Number(20), Phase: stats.PhaseCreated, CapURN: "cap:op=a"},
				{
					XID: frame.Number(10), RID: frame.Number(100), Phase: stats.PhaseStreaming, IsPeer: true, CapURN: "cap:op=b",
					OriginMaster: ptr(0), DestinationMaster: 1, AgeMS: 2000, IdleMS: 20, Children: 3,
					Streams: []stats.Stream{
						{StreamID: ptr("out"), ChunksOut: 1, FramesOut: 1, BytesOut: 65536, CreditOutstanding: -1, Unbounded: true},
						{StreamID: ptr("in"), FramesIn: 12, BytesIn: 640, ChunksIn: 10, CreditOutstanding: 54, Ended: true},
						{FramesIn: 1, FramesOut: 1, CreditOutstanding: 64},
					},
				},
				{XID: frame.Number(8), RID: frame.Number(20), Phase: stats.PhaseCreated, CapURN: "cap:op=a"},
			},
			RecentTerminated: []stats.Terminated{
				cancelled,
				{XID: frame.Number(4), RID: frame.Number(5), Kind: stats.KindMasterDied, CapURN: "cap:op=a"},
			},
			TotalRegistered:  5,
			TerminatedByKind: map[stats.Kind]uint64{stats.KindCancelled: 1, stats.KindMasterDied: 1},
		},
		Drops: c.Drops(), Stragglers: c.Stragglers(), Hosts: map[string]stats.Host{"gpu-b": {}, "gpu-a": host},
	}
}

func TestSnapshotsAreWrittenWithTheNamesOfTheProtocol(t *testing.T) {
	s := full()
	s.Requests.Sort()
	for name, s := range map[string]stats.Switch{"full.json": s, "empty.json": {}} {
		got, err := json.MarshalIndent(s, "", "\t")
		require.NoError(t, err)
		got = append(got, '\n')
		path := filepath.Join("testdata", name)
		if *update {
			require.NoError(t, os.WriteFile(path, got, 0o644))
		}
		want, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, string(want), string(got), name)

		var read stats.Switch
		require.NoError(t, json.Unmarshal(got, &read))
		again, err := json.MarshalIndent(read, "", "\t")
		require.NoError(t, err)
		require.Equal(t, string(got), string(again)+"\n", "%s: written again after it was read", name)
	}
}

func TestAnActiveRequestWithoutStreamsHasAnEmptyArray(t *testing.T) {
	got, err := json.Marshal(stats.Active{RID: frame.Number(1)})
	require.NoError(t, err)
	require.Contains(t, string(got), `"origin_master":null`)
	require.Contains(t, string(got), `"streams":[]`)
}
