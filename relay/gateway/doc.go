// Package gateway lets other programs use a switch over a Unix socket: [Serve] takes the hosts and the callers that
// connect to it, and a [Client] is such a caller.
//
//	c, err := gateway.Dial(ctx, "/run/cosim/switch")
//	...
//	out, err := call.Do(ctx, c, "cap:hash", call.Bytes("media:", data))
//
// # Callers
//
// The first frame of a connection tells who is there: a host announces itself with RELAY_NOTIFY and becomes a master of
// the switch; a caller says HELLO, with the limits that it proposes, and is answered in the same way. Both then
// keep to the smaller ones.
//
// A caller makes requests as an engine does, many at a time on one connection. It chooses their ids, which have to be
// its own as long as a request runs, and fresh for a while after that; UUIDs are. It numbers what it sends and gets what
// it reads in order; nothing has a routing id. A REQ has no payload: the arguments follow as streams, under credit. Its
// meta may name the cartridge that has to serve it (target_cartridge), and a provider that comes before others
// (preferred_cap, a cap URN).
//
// When a request was admitted, the caller gets a CREDIT of 0 for it, without a stream, of direction request, whose meta
// has max_chunk and initial_credit: what holds for the streams of this request, in both directions. Whoever does not
// look at it keeps to the limits of the HELLO, which hold for every host that was there then.
//
// A caller that goes away, also with the end of its direction alone, has its requests cancelled. [StatusCap] is
// answered by the gateway itself, with a [Status].
//
// # Callers that misbehave
//
// What a caller does wrong hurts that caller alone. Its connection ends with bytes that are no frame, a frame against the
// order of its flow, one that is not a caller's to send, and a REQ with the id of a request that it has running. A request
// ends with an ERR when it is one too many (MaxRequests), and when more than MaxQueued bytes wait for its handler or for
// its caller; frames of requests that are not there are counted. A caller that reads nothing for ten seconds,
// while 64 MiB and more wait in its connection, is ended; 1 MiB of each response may.
package gateway
