//go:build !race && !framepoison

package route_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/relaytest"
)

// Requests through a switch take few pieces of memory, 32 at a time over real sockets, with one master and with many: both ends
// together, and all that runs beside them.
func TestRequestsAtATimeTakeFewPiecesOfMemory(t *testing.T) {
	relaytest.NoLeaks(t)
	figures, err := relaytest.MeasureSwitch(relaytest.SocketPair, startSwitch, &relaytest.MeasureOptions{
		Rounds: 1, Frames: 3000, // enough to make little of what is allocated once
		Only: func(name string) bool { return strings.HasSuffix(name, "/in-flight=32") },
	})
	require.NoError(t, err)
	require.Len(t, figures, 3)
	for _, f := range figures {
		require.LessOrEqual(t, f.Allocs, 20.0, f.Name)
	}
}
