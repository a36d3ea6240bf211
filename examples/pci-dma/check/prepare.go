package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/cosim-go/cosim/examples/pci-dma/check/disk"
)

func prepare(args []string, out io.Writer) error {
	var o disk.Options
	flags := flag.NewFlagSet("prepare", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.BoolVar(&o.ExpectOther, "expect-other", false, "")
	flags.BoolVar(&o.Panic, "panic", false, "")
	flags.Int64Var(&o.Rounds, "rounds", 1, "")
	if flags.Parse(args) != nil || flags.NArg() > 1 || o.Rounds < 1 {
		return errUsage
	}
	path := os.Getenv("COSIM_IMAGE") // where a recipe has to write
	if flags.NArg() == 1 {
		path = flags.Arg(0)
	}
	if path == "" {
		return errUsage
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	h, err := disk.Create(path, o)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s: %d random bytes, to be moved from %#x to %#x\n", path, h.BlockSize, h.Source, h.Destination)
	return nil
}
