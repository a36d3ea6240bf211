// Package supervise starts, watches and ends the processes of a plan. It needs Linux
// 5.4 or newer.
//
// [Run] takes the processes of one session and returns when none of them is left. It
// starts each one when all that it depends on are ready, in parallel where they are
// independent, and ends the session when a process or a verdict fails, when its context
// ends, or when every vhost has ended. [Console] joins a terminal to a vhost's serial
// line. A program that calls Run calls [GuardMain] first in its main function.
//
// # Processes
//
// Each process leads a group of its own, reads from /dev/null and writes its standard
// output and error to its log through a pipe of ours, so that a log keeps its first and
// last 16 MiB whatever is written. It inherits the descriptors that the plan gives it
// and no other. Its environment is the base environment, then the plan's variables,
// then COSIM_SESSION, the mark that every process of the session carries, and
// COSIM_PROCESS, its own identifier.
//
// A process is ready when all of its conditions hold: somebody listens on a socket (which
// is never connected to, since many servers take one client only), a file exists, a line
// of its log matched, a command exits with 0, a QEMU monitor answers. Sockets and files that
// stood there before the start are removed before it where they lie inside the session,
// and refuse the start elsewhere, so that an old one never counts. With no condition a
// process is ready once executed.
//
// # Ends
//
// A vhost ended well when it exited with 0 and a line matched the pass expression, if
// there is one. A line that matches the fail expression ends the session at once. A
// device may leave with status 0 before its vhost, if the vhost follows within a second;
// any other end of a device before its vhost is a failure. Once the vhost has ended, its
// devices get their grace to leave by themselves and are then stopped; how they end
// does not matter. The session ends well when all vhosts did.
//
// To end early, first all vhosts are stopped, then all devices. A process is stopped by
// `quit` on its monitor, where it has one, then by its stop signal (with SIGCONT, for a
// process that was stopped), after its grace by SIGKILL. Signals go to the whole group.
// What left its group is found by the mark in its environment and killed, which misses
// only what both left the group and dropped the mark.
//
// Should the supervisor itself be killed, its children get SIGKILL from the kernel
// (PDEATHSIG), and a guard, a small process that does nothing but wait for this, kills
// what carries the mark.
//
// # Bounds
//
//	Until a process is ready             the plan's timeout, from its own start
//	Between two looks at a socket, file  1 to 50 ms, about an eighth of the time waited
//	From socket seen to ready            until /proc/net/unix has it listen; 50 ms if it is not there
//	Exec probe                           every 200 ms, 5 s each
//	Vhost after a device's exit 0        1 s
//	Monitor, from connect to answer      1 s
//	Exit after an answered quit          the grace
//	Exit after the stop signal           the grace
//	Exit after SIGKILL                   10 s, then the process is reported as left
//	Output after the end of a group      500 ms, if something outside the group holds the pipe
//	Look at a log that QEMU writes       every 50 ms, and at the end
//	Search for the mark                  10 s
//	Log                                  the first and the last 16 MiB; 48 MiB while it is written
//	Line matched                         its first 64 KiB
//
// So a session ends within 2 x (1 s + 2 x grace + 10 s) + 11 s after it was told to, and
// within milliseconds where its processes obey.
package supervise
