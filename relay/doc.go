// Package relay is the root of cosim's frame relay and holds no code itself. The codec is in
// package frame, numbering, order and credit in package flow, the two ends of a relay socket in
// package bridge, and what tests need in package relaytest. PROTOCOL.md describes the wire,
// that of the CapDAG protocol, version 4.
package relay
