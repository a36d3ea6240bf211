package ours

import (
	"context"
	"net"

	"github.com/cosim-go/cosim/relay/bridge"
)

// Slave is the relay's own bridge, as a host program runs it: it checks every body and keeps every flow in order.
func Slave(local, socket net.Conn) error {
	return bridge.NewSlave(local, nil).Run(context.Background(), socket, nil)
}
