// Command inspect prints where the regions of a topology lie in its memory pools.
//
// It is an example of a program that uses package topology alone: no adapters, so a
// document has to define the kinds that it uses, and no runtime, so that it works for
// hosts that are not this one.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"github.com/cosim-go/cosim/topology"
	"github.com/cosim-go/cosim/topology/diag"
	"github.com/cosim-go/cosim/topology/layout"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run gives the exit status: 1 where the topology has errors, 2 for wrong usage.
func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("inspect", flag.ContinueOnError)
	flags.SetOutput(stderr)
	page := flags.String("page-size", "4K", "page size of the host that runs the topology")
	library := flags.String("resources", "resources", "directory with the library")
	flags.Usage = func() {
		fmt.Fprintln(stderr, "usage: inspect [options] FILE")
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return 2
	}
	size, err := layout.ParseSize(*page)
	if err != nil || flags.NArg() != 1 {
		flags.Usage()
		return 2
	}
	model, problems := topology.Load(files{}, flags.Arg(0), &topology.Options{Resources: []string{*library}})
	var pools *layout.Layout
	if model != nil {
		var more diag.List
		pools, more = topology.Layout(model, size)
		problems = append(problems, more...)
	}
	if err := diag.WriteText(stderr, problems); err != nil || problems.HasErrors() {
		return 1
	}
	if err := printTable(stdout, pools); err != nil {
		fmt.Fprintln(stderr, "inspect:", err)
		return 1
	}
	return 0
}

func printTable(w io.Writer, pools *layout.Layout) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "machine\tregion\toffset\tsize\t")
	for _, machine := range pools.Machines {
		for _, region := range machine.Regions {
			fmt.Fprintf(table, "%s\t%s\t%#x\t%s\t\n", machine.ID, region.Name, uint64(region.Offset), region.Size.Human())
		}
		fmt.Fprintf(table, "%s\t\t%#x\t%s\t\n", machine.ID, uint64(machine.Size), machine.Size.Human())
	}
	return table.Flush()
}
