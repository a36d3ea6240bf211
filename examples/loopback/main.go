// Command loopback is both ends of the smallest co-simulation there is: a host that
// owns a guest's memory and devices that work on it, in processes of their own. They
// share a pool file, which each maps, and talk over a Unix socket.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

const usage = `usage:
  loopback host   --pool FILE --memory OFFSET:SIZE --device ID,OFFSET:SIZE,SOCKET ... [--rounds N]
  loopback device --pool FILE --memory OFFSET:SIZE --window OFFSET:SIZE --socket SOCKET [--spoil]
`

// errUsage is a command line that makes no sense.
var errUsage = errors.New("wrong usage")

func main() {
	err := run(os.Args[1:])
	switch {
	case errors.Is(err, errUsage):
		fmt.Fprintf(os.Stderr, "loopback: %v\n%s", err, usage)
		os.Exit(2)
	case err != nil:
		fmt.Fprintf(os.Stderr, "loopback: %v\n", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return errUsage
	}
	switch args[0] {
	case "host":
		return runHost(args[1:], os.Stdout)
	case "device":
		return runDevice(args[1:], os.Stdout)
	}
	return errUsage
}

// parse reads flags alone, and reports what is wrong with them as wrong usage.
func parse(flags *flag.FlagSet, args []string) error {
	flags.SetOutput(io.Discard)
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("%w: %v", errUsage, err)
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%w: unexpected %q", errUsage, flags.Arg(0))
	}
	return nil
}
