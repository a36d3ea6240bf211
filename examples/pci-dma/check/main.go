// Command check stands outside the demo's session: before a run it makes the disk
// image with a new random block, and after the run it looks for that block in the
// machine's memory pool and on the disk.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

const usage = `usage:
  check prepare [--expect-other] [--panic] [--rounds N] [IMAGE]
      make a disk image with a new random block; IMAGE defaults to $COSIM_IMAGE
  check verify RUN_DIR IMAGE
      compare the pool and the disk of a session that was run with --keep
  check flip RUN_DIR IMAGE
      change one byte of the moved block in the pool, so that verify must fail
`

// errUsage is a command line that makes no sense.
var errUsage = errors.New("wrong usage")

func main() {
	err := run(os.Args[1:], os.Stdout)
	switch {
	case errors.Is(err, errUsage), errors.Is(err, flag.ErrHelp):
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	case err != nil:
		fmt.Fprintf(os.Stderr, "check: %v\n", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	if len(args) == 0 {
		return errUsage
	}
	switch command, rest := args[0], args[1:]; {
	case command == "prepare":
		return prepare(rest, out)
	case command == "verify" && len(rest) == 2:
		return verify(rest[0], rest[1], out)
	case command == "flip" && len(rest) == 2:
		return flip(rest[0], rest[1], out)
	}
	return errUsage
}
