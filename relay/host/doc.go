// Package host is the cartridge host runtime: it owns cartridges, starts them when a request needs them, and serves
// them to a switch at the other end of a relay.
//
// [New] makes a [Host], [Host.Register] makes a cartridge known, and [Host.Run] serves a switch until the relay ends. A
// cartridge comes from a [Provider]: [Program] is one for a program, which a [Starter] starts, [Handlers] one for
// handlers in this process. Whoever wants processes to be started elsewhere, in containers for instance, writes a
// Starter; whoever has something that is no process writes a Provider. [Inspect] tells what a cartridge can do
// before it is registered, and [Host.Attach] takes in one that runs already.
//
// # Cartridges
//
// The first request for a cartridge starts it, once for all that ask meanwhile; what they send waits in order, and other
// cartridges are served. A cartridge is greeted (HELLO), its manifest is read, it has to answer with a nonce (the check of
// identity), and it is told the policy of the switch and the state of its surroundings, all before its first request.
// A start that fails is final: the requests end with SPAWN_FAILED, and the cartridge is announced with the reason until
// [Host.SyncRoster] brings another install.
//
// However a cartridge ends later, each of its requests gets one ERR, and the next request starts it again:
//
//	it ended, or wrote what is no frame   CARTRIDGE_DIED, environment, with exit state and last lines of stderr
//	it did not answer a heartbeat         CARTRIDGE_UNHEALTHY, environment
//	it does not read what is sent to it   CARTRIDGE_UNHEALTHY, environment
//	it broke the rules                    PROTOCOL_VIOLATION, internal; see Options.Strict
//	a cancel with force, or Kill          what that says
//	KillOutOfMemory                       OOM_KILLED, resource
//	it left the roster                    CARTRIDGE_RETIRED, environment, if its requests did not end in time
//
// What a cartridge does harms it alone: one that floods the relay waits for the switch by itself, one that sends frames
// against their order is ended before the slave would end the relay for it.
//
// # Processes
//
// A program is started without arguments, with pipes for its standard streams, as the leader of a process group. Its
// standard error is drained always: lines go to the log, the last 2000 bytes into what is said of its death. Whatever ends it
// ends its group, by SIGKILL. At the end of the relay each cartridge first gets all that waits for it and the end of its input,
// and has 2 s to leave.
//
// No process outlives its host. When the host itself is killed, the kernel ends its cartridges on Linux; elsewhere, and
// for what they have started in turn, there is the end of standard input. What has left the process group is reached
// by neither: it loses the pipes, and that is all; see [Exec].
//
// # Bounds
//
//	From the start of a cartridge to its HELLO   15 s
//	Check of identity; what it is told then      15 s each
//	Heartbeats; answer to one                    every 30 s; 10 s
//	Output of a process that has ended           until nothing came for 500 ms, 5 s at the most
//	End of a process whose output has ended      500 ms, then it is killed
//	End after SIGKILL                            5 s, then it is given up, and said so
//	Leaving at the end of its input              2 s
//	Requests of a cartridge that left the roster 600 s
//	Waiting for a cartridge that does not read   64 MiB for 10 s, or 256 MiB
//	Sent by a cartridge, waiting for the switch  4 MiB, then it is not read
//	Requests and peer calls known                8192 each; those not used for the longest time are given up
//
// # Lifetimes
//
// Run and RunBehind own their connection, Attach owns its. When Run returns no process, goroutine or file of it is left, but
// for handlers in this process that do not return, and a Provider that does not keep to its context. [Host.Close]
// ends everything and is for good. All methods are safe for concurrent use.
package host
