package main

import (
	"encoding/json"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/cosim-go/cosim/topology/layout"
)

func (c *cli) layoutCommand() *cobra.Command {
	var page string
	cmd := &cobra.Command{
		Use:   "layout FILE",
		Short: "Print where each region lies in its machine's memory pool",
		Args:  exactlyOne("one topology file"),
		RunE:  func(_ *cobra.Command, files []string) error { return c.layout(files[0], page) },
	}
	c.topologyFlags(cmd)
	c.formatFlag(cmd)
	cmd.Flags().StringVar(&page, "page-size", "", "page size to lay out with (default: this host's)")
	return cmd
}

func (c *cli) layout(file, pageText string) error {
	page, err := pageSize(pageText)
	if err != nil {
		return err
	}
	_, placed, list, err := c.load(file, page)
	if err != nil {
		return err
	}
	if placed == nil || c.format != "json" {
		if err := c.printDiagnostics(list); err != nil {
			return err
		}
	}
	if placed == nil {
		return silent(exitTopology)
	}
	if c.format == "json" {
		enc := json.NewEncoder(c.stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(placed)
	}
	return c.layoutTable(placed)
}

func (c *cli) layoutTable(l *layout.Layout) error {
	w := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "MACHINE\tREGION\tOFFSET\tSIZE")
	for _, m := range l.Machines {
		for _, r := range m.Regions {
			fmt.Fprintf(w, "%s\t%s\t%#x\t%s\n", m.ID, r.Name, uint64(r.Offset), r.Size.Human())
		}
		fmt.Fprintf(w, "%s\t(pool)\t\t%s\n", m.ID, m.Size.Human())
	}
	return w.Flush()
}
