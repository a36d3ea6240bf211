package bridge_test

import (
	"testing"

	"github.com/cosim-go/cosim/relay/bridge"
	"github.com/cosim-go/cosim/relay/relaytest"
)

// BenchmarkSlave is the shipped slave, with its checks and reorder buffers, between two socket
// pairs. Its time is that of a CHUNK from the host's end to the socket's; x-copy is what that is
// in terms of a loop that reads and writes, from the same run. See relaytest.BenchBridge.
func BenchmarkSlave(b *testing.B) {
	relaytest.BenchBridge(b, relaytest.SocketPair, func(local, socket relaytest.Conn) error {
		return bridge.NewSlave(local, nil).Run(b.Context(), socket, nil)
	})
}
