// Package tap watches what two programs say to each other over a Unix socket: a [Tap] stands
// between them, passes every byte on as it is, and reports the relay frames among them.
//
// A tap listens on a socket of its own and joins each connection that it accepts with one that
// it makes. Both directions run at the same time, and the end of each is passed on by itself.
// A frame is reported before its last byte is passed on, and an end likewise, so an answer is
// never reported before what it answers; and a report that takes its time holds up the traffic
// rather than get lost.
package tap
