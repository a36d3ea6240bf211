// Package relay is the root of cosim's frame relay: the slave and master ends of a
// relay socket, the switch that routes capability calls over many masters, and the
// cartridge host, wire-compatible with the CapDAG protocol v4.
//
// The module is reserved and holds no relay code yet: nothing here reads or writes a
// frame. The frame codec and the bridge come first, as packages below this one.
package relay
