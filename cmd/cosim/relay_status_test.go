package main

import (
	"testing"

	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/gateway"
	"github.com/cosim-go/cosim/relay/manifest"
	"github.com/cosim-go/cosim/relay/route"
	"github.com/cosim-go/cosim/relay/stats"
)

func TestStatusText(t *testing.T) {
	hash, err := manifest.NewCap("cap:hash", "Hash")
	if err != nil {
		t.Fatal(err)
	}
	hung := "its socket was closed\x1b[2J"
	peer := 0
	s := &gateway.Status{
		Callers: 1, Capabilities: []string{"cap:hash"},
		Masters: []route.MasterHealth{
			{Index: 0, ID: "host-1", Attached: true, Healthy: true, Caps: 2, ConnectedSeconds: 90.04},
			{Index: 1, ID: "gpu-a", LastError: &hung},
			{Index: 2, ID: "host-2", Attached: true, ConnectedSeconds: 1, Caps: 1},
		},
		Inventory: &manifest.Inventory{Records: []manifest.Record{
			{Install: manifest.Install{ID: "hash", Version: "1.0"}, Groups: []manifest.CapGroup{{Caps: []manifest.Cap{hash}}}, Lifecycle: manifest.LifecycleOperational, Stats: &manifest.RuntimeStats{
				Running: true, ActiveRequests: 2, Restarts: 1, Pools: manifest.Pools{
					"all": {Configured: 4, Active: 2}, "gpu": {Configured: 1, Active: 1, Queued: 3}, "cap:hash": {Active: 2},
				},
			}},
			{Install: manifest.Install{ID: "words", Version: "2"}, Stats: &manifest.RuntimeStats{}},
			{Install: manifest.Install{ID: "bad", Version: "3"}, AttachmentError: &manifest.AttachmentError{Kind: manifest.HandshakeFailed, Message: "no HELLO in time"}},
		}},
		Protocol: stats.Switch{
			Requests: stats.Requests{
				TotalRegistered: 9, TerminatedByKind: map[stats.Kind]uint64{"err": 2, "end": 6},
				Active: []stats.Active{
					{RID: frame.Number(7), CapURN: "cap:hash", AgeMS: 2500, IdleMS: 100, Streams: []stats.Stream{{BytesIn: 2048, BytesOut: 10}}},
					{RID: frame.Number(8), CapURN: "cap:hash", OriginMaster: &peer, DestinationMaster: 9},
				},
			},
			Drops: stats.Drops{Total: 3, ByReason: map[stats.Reason]uint64{"no_route": 2, "cancelled": 1}}, Stragglers: stats.Stragglers{Total: 1},
		},
	}
	const want = `3 hosts, 1 healthy; 1 cap; 1 caller; 2 requests

HOST    HEALTH     CAPS  CONNECTED  LAST ERROR
host-1  healthy    2     1m30s
gpu-a   lost       0     -          its socket was closed?[2J
host-2  unhealthy  1     1s

CARTRIDGE  VERSION  STATE             LIFECYCLE    REQUESTS  POOLS                              RESTARTS  CAPS
hash       1.0      running           operational  2         all 2 of 4; gpu 1 of 1, 3 waiting  1         cap:hash
words      2        not started       discovered   0         -                                  0
bad        3        handshake_failed  discovered   -         -                                  -         no HELLO in time

REQUEST  CAP       FROM      TO      AGE   IDLE   ARGUMENTS  RESPONSE
7        cap:hash  a caller  host-1  2.5s  100ms  10 B       2.0 KiB
8        cap:hash  host-1    9       0s    0s     0 B        0 B

9 requests ever, ended with end 6, err 2
3 frames dropped: cancelled 1, no_route 2; 1 frame late
`
	if got := statusText(s); got != want {
		t.Errorf("the status is\n%s\nwant\n%s", got, want)
	}
}
