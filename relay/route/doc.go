// Package route is the switch of the relay: it joins many hosts of cartridges, each behind the socket of a
// master, and carries every request to the host whose cartridges serve it best.
//
// [New] makes a [Switch] of the sockets that are there, [Switch.AddMaster] takes more, and takes back one that
// was lost. [Switch.Open] makes a request and returns its [Call]; peer calls, which cartridges make, need
// nobody. What hosts offer is in [Switch.Capabilities] and [Switch.Inventory], how they are in [Switch.Health],
// and all that is going on in [Switch.Stats].
//
// # Masters
//
// A master keeps its id and its index for the life of the switch. It is healthy when its host has proved, by an
// identity check, that it answers; only what healthy masters offer is routed to. Failures stay where they happen:
// a master whose socket ends or that breaks the protocol dies alone, every request that it served or made ends
// with an ERR of code MASTER_DIED for those who wait, and a new socket can take its place.
//
// # Requests
//
// A request is registered before its first frame is written and ends exactly once: with the END or ERR of its
// handler, with a cancel, or with the master that serves it. No state of it is left then, and a frame that comes
// late is counted as a straggler.
//
// # Concurrency
//
// All methods are safe for concurrent use. Nothing waits with the tables locked: a master that reads slowly holds
// up those who send to it once MaxQueued bytes wait, and dies when it has taken nothing for ten seconds then.
// Observers in Options are called without locks, in the goroutine in which the thing happened: they must not
// block for long, nor close the switch.
package route
