// Package bridge is the relay between a host of cartridges and a switch: a [Slave] at the
// host's end of a socket, a [Master] at the switch's end of it.
//
// The pair is transparent. Every frame passes as it was received, byte for byte, in both
// directions, but for two types that are meant for the pair itself: RELAY_NOTIFY, by which the
// slave tells the master what the host offers, and RELAY_STATE, by which the master tells the
// slave what the host has to know of its surroundings. POLICY passes from the switch to the
// host and ends the relay in the other direction.
//
// Frames of a flow leave in the order of their numbers: what came too early is held until it is
// due. Every body is checked; what is no frame ends the relay, and nothing of it goes on.
// Payloads are never looked at, checksums neither verified nor made: the ends do that.
//
// # Links
//
// Both sides of a slave, and a master's one, are an [io.ReadWriteCloser] of any kind: a Unix
// socket, a pipe pair made one with [Join], an in-memory connection. It has to end a waiting
// Read and Write when it is closed, or who closes it waits too. Files that block do not, and
// [os.Stdin] is one as a rule: set its descriptor non-blocking first, and make a file of it anew
// with [os.NewFile]. Where it has a method CloseWrite() error, the end of one
// direction is passed on as such and the other one goes on; a link without, or one whose CloseWrite
// fails, is closed as a whole.
//
// # Lifetimes
//
// [NewSlave], [Slave.Run] and [Connect] take over the links they are given and close them. Run
// returns when both directions have ended, and leaves no goroutine behind.
package bridge
