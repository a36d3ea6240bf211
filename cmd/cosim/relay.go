package main

import "github.com/spf13/cobra"

func (c *cli) relayCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "relay",
		Short: "Serve cartridges, call them, and watch what passes",
		Long: `A switch, hosts of cartridges and callers over the frame relay, and tools for those who embed it
or speak its protocol with an implementation of their own.`,
		Args: noArgs,

		SuggestionsMinimumDistance: 2,
		RunE:                       func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(c.switchCommand(), c.hostCommand(), c.callCommand(), c.statusCommand(), c.vectorsCommand(), c.tapCommand(), c.benchCommand())
	return cmd
}
