package session

// Variables in the environment of each process of a session. With the process's start
// time and the boot ID they prove whose it is.
const (
	MarkVariable    = "COSIM_SESSION" // the session's Mark
	ProcessVariable = "COSIM_PROCESS" // identifier in the plan, "<machine>/vhost" or "<machine>/<device>"
)
