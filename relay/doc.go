// Package relay is the root of cosim's frame relay and holds no code itself. The codec is in
// package frame, numbering, order and credit in package flow, the two ends of a relay socket in
// package bridge, the switch in package route, the host of cartridges in package host, and what
// tests need in package relaytest. Package cartridge is for writing cartridges, package call for
// asking them. PROTOCOL.md describes the wire, that of the CapDAG protocol, version 4.
package relay
