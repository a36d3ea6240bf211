// Command cosim loads, checks, plans and runs co-simulations of hardware.
//
// It is thin: each subcommand turns its flags into one call of a library and prints
// the result. Exit codes are in exit.go.
package main

import (
	"os"

	"github.com/cosim-go/cosim/runtime/supervise"
)

func main() {
	if supervise.GuardMain() {
		return // this process is the guard of a session, started by supervise
	}
	sealDescriptors()
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
