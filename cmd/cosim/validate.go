package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/cosim-go/cosim/topology"
	"github.com/cosim-go/cosim/topology/diag"
	"github.com/cosim-go/cosim/topology/layout"
)

func (c *cli) validateCommand() *cobra.Command {
	var page string
	cmd := &cobra.Command{
		Use:   "validate FILE...",
		Short: "Check topologies",
		Long: `Check topologies with everything they import: fields, references, identifiers, limits and
the memory layout. All problems are reported in one run. Nothing is started or written.
The file "-" is standard input.`,
		Args: atLeastOne("a topology file"),
		RunE: func(_ *cobra.Command, files []string) error { return c.validate(files, page) },
	}
	c.topologyFlags(cmd)
	c.formatFlag(cmd)
	cmd.Flags().StringVar(&page, "page-size", "", "page size to lay out with (default: this host's)")
	return cmd
}

func (c *cli) validate(files []string, pageText string) error {
	page, err := pageSize(pageText)
	if err != nil {
		return err
	}
	var all diag.List
	var good []string
	for _, file := range files {
		model, placed, list, err := c.load(file, page)
		if err != nil {
			return err
		}
		all = append(all, list...)
		if model != nil {
			good = append(good, summary(model, placed))
		}
	}
	if err := c.printDiagnostics(all); err != nil {
		return err
	}
	if c.format != "json" {
		for _, line := range good {
			if _, err := fmt.Fprintln(c.stdout, line); err != nil {
				return err
			}
		}
	}
	if all.HasErrors() {
		return silent(exitTopology)
	}
	return nil
}

// summary says in one line what a valid topology holds.
func summary(model *topology.Model, placed *layout.Layout) string {
	devices, more := 0, ""
	var pools layout.Size
	for i, m := range model.Machines {
		devices += len(m.Devices)
		if size := placed.Machines[i].Size; size <= layout.MaxSize-pools {
			pools += size
		} else {
			pools, more = layout.MaxSize, "more than "
		}
	}
	return fmt.Sprintf("%s: ok (%s, %s, pools of %s%s)", model.File, plural(len(model.Machines), "machine"), plural(devices, "device"), more, pools.Human())
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func atLeastOne(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usage("%s needs %s; see %s --help", cmd.CommandPath(), what, cmd.CommandPath())
		}
		return nil
	}
}

func exactlyOne(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usage("%s takes %s; see %s --help", cmd.CommandPath(), what, cmd.CommandPath())
		}
		return nil
	}
}
