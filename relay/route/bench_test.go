package route_test

import (
	"context"
	"fmt"
	"io"
	"testing"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/relaytest"
	"github.com/cosim-go/cosim/relay/route"
)

// startSwitch makes a switch of sockets, for benchmarks.
func startSwitch(sockets []relaytest.Conn) (call.Opener, io.Closer, error) {
	var all []route.Socket
	for i, conn := range sockets {
		all = append(all, route.Socket{ID: fmt.Sprint("host-", i), Conn: conn})
	}
	s, err := route.New(context.Background(), all, nil)
	return s, s, err
}

func BenchmarkSwitch(b *testing.B) { relaytest.BenchSwitch(b, relaytest.SocketPair, startSwitch) }
