//go:build !linux

package gateway

import "net"

// peerProcess would return the process at the other end of a connection; it is not known here.
func peerProcess(net.Conn) int { return 0 }
