// Package session names every path of a session, and keeps its lock and its state.
//
// Start with [NewLayout], which names the paths and touches nothing. [Inspect] looks
// whether the session is running already. [Acquire] makes the run directory and takes
// the session's lock, and with the [Lock] in hand the directories are made, the state is
// written, and what a dead session left is removed.
//
// Files are removed only where they are proven to be the session's own; a directory is
// removed only when it is empty then.
package session
