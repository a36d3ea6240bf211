//go:build unix && !linux

package host

import "syscall"

// endWithUs does nothing: a process has the end of its standard input to go by.
func endWithUs(*syscall.SysProcAttr) {}

// canAwait says that awaitExit does not wait.
const canAwait = false

func awaitExit(int) {}
