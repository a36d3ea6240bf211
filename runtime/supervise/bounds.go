package supervise

import "time"

// The bounds of the package; its comment has them as a table.
const (
	// Readiness.
	pollMin     = time.Millisecond       // pause between the first two looks at a file
	pollMax     = 50 * time.Millisecond  // longest pause between two looks
	listenPause = 50 * time.Millisecond  // between bind and listen, where the second cannot be seen
	execPause   = 200 * time.Millisecond // between two runs of an exec probe
	execLimit   = 5 * time.Second        // for one run of an exec probe

	// Ends. The grace of each process comes from the plan.
	afterVhost   = time.Second            // for a vhost to follow a device that left with status 0
	quitLimit    = time.Second            // for a monitor to answer `quit`, from the connect on
	killLimit    = 10 * time.Second       // for the kernel to end what got SIGKILL
	groupPause   = 50 * time.Millisecond  // between two looks at what is left in a group
	drainLimit   = 500 * time.Millisecond // for output of a process that has ended
	followPause  = 50 * time.Millisecond  // between two looks at a log that a process writes itself
	sweepLimit   = 10 * time.Second       // to find and kill what carries the mark
	consolePause = 10 * time.Millisecond  // as followPause, where a person watches

	// Sizes.
	logKeep  = 16 << 20 // bytes kept of a log's start, and of its end
	lineKeep = 64 << 10 // bytes kept of a line that is matched
)
