// Package stats counts what a switch, a host or a cartridge loses, and holds the snapshots that they
// publish. The JSON names of the snapshots are those of the protocol, for all its implementations.
//
// A frame that is lost raises one counter of [Counters]: a drop with its [Reason] when something went
// wrong, a straggler when it merely crossed the end of its request. [Ended] tells the two apart. [Switch]
// and [Host] are the snapshots; a zero value of each is valid and empty.
//
// Counters are safe for concurrent use. All else is plain data, or belongs to one goroutine at a time.
package stats
