package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// A cli is one invocation: its streams, and the flags that several commands share.
type cli struct {
	stdin          io.Reader
	stdout, stderr io.Writer

	workspace string
	resources string
	builtin   bool // the built-in library stands behind the resources
	format    string
}

// run executes one command line and returns its exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	c := &cli{stdin: stdin, stdout: stdout, stderr: stderr}
	root := c.rootCommand()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	return report(stderr, root.Execute())
}

func (c *cli) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "cosim",
		Short: "Load, check, plan and run co-simulations of hardware",
		Long: `cosim reads a YAML topology of machines (a QEMU running a guest) and devices that live
in other processes, lays out one shared-memory pool per machine, and runs it all.

Exit codes: 0 fine, 1 errors in the topology, 2 wrong usage, 3 refused before anything
was created, 4 the session failed, 129, 130 and 143 ended on request.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noArgs,

		SuggestionsMinimumDistance: 2,
		RunE:                       func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.AddCommand(c.validateCommand(), c.layoutCommand(), c.schemaCommand(), c.versionCommand(), c.runCommand(), c.cleanCommand(), c.relayCommand())
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usage("%v; see %s --help", err, cmd.CommandPath())
	})
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "help": // cobra's own answers an unknown command with the general help
			cmd.Run, cmd.RunE = nil, helpOn
		case "completion":
			cmd.Args, cmd.RunE = noArgs, func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		}
	}
	return root
}

// helpOn prints the help of a command, given by its name.
func helpOn(help *cobra.Command, args []string) error {
	cmd, rest, err := help.Root().Find(args)
	if err == nil && len(rest) > 0 {
		err = noArgs(cmd, rest)
	}
	if err != nil {
		return err
	}
	return cmd.Help()
}

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if !cmd.HasSubCommands() {
		return usage("%s takes no arguments; see %s --help", cmd.CommandPath(), cmd.CommandPath())
	}
	err := &exitError{code: exitUsage, msg: fmt.Sprintf("unknown command %q; see %s --help", args[0], cmd.CommandPath())}
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		err.hints = []string{fmt.Sprintf("did you mean %q?", near[0])}
	}
	return err
}

// topologyFlags adds the flags of every command that reads a topology.
func (c *cli) topologyFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.workspace, "workspace", "", "workspace root, which resource paths are relative to (default: the working directory)")
	cmd.Flags().StringVar(&c.resources, "resources", "", "library that imports are resolved against (default: resources/ in the workspace, then the built-in one)")
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		c.builtin = !cmd.Flags().Changed("resources")
		return c.checkFormat()
	}
}

func (c *cli) formatFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.format, "format", "text", "form of the output: text or json")
}

func (c *cli) checkFormat() error {
	switch c.format {
	case "", "text", "json":
		return nil
	}
	return usage("--format %q: it is text or json", c.format)
}
