package main

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/cosim-go/cosim/adapters"
	"github.com/cosim-go/cosim/adapters/builtin"
	"github.com/cosim-go/cosim/runtime/execenv"
	"github.com/cosim-go/cosim/runtime/plan"
	"github.com/cosim-go/cosim/runtime/session"
	"github.com/cosim-go/cosim/topology"
	"github.com/cosim-go/cosim/topology/diag"
)

// runFlags are the flags of cosim run.
type runFlags struct {
	dryRun     bool
	command    string
	plan       string
	file       string // the topology, as written; empty with a plan
	name       string
	runDir     string
	poolDir    string
	console    string
	keep       bool
	overcommit bool
	strict     bool
}

func (c *cli) runCommand() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run FILE | run --plan FILE",
		Short: "Run a topology, or print what a run would do",
		Long: `Run a topology: build its images, make its memory pools and disk overlays, start its
devices and hosts, wait for the guests' end or verdict, and leave nothing behind. Logs,
session.json, plan.json and layout.json stay in the run directory.

Ctrl-C ends the session in order; a second one kills it at once.`,
		Args: func(cmd *cobra.Command, args []string) error { return f.check(cmd, args) },
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.plan != "" {
				return c.runPlanFile(&f)
			}
			f.file = args[0]
			return c.runTopology(&f)
		},
	}
	c.topologyFlags(cmd)
	c.formatFlag(cmd)
	flags := cmd.Flags()
	flags.BoolVar(&f.dryRun, "dry-run", false, "print image states and the execution plan as JSON, start and create nothing")
	flags.StringVar(&f.command, "command", "", "print the command line of one process of the plan, such as m0/vhost, and run nothing")
	flags.StringVar(&f.plan, "plan", "", "execute a plan that --dry-run printed")
	flags.StringVar(&f.name, "name", "", "name of the session (default: the topology file's, without its ending)")
	flags.StringVar(&f.runDir, "run-dir", "", "run directory (default: .cosim/NAME in the workspace)")
	flags.StringVar(&f.poolDir, "pool-dir", "", "directory of the memory pools (default: /dev/shm/cosim-NAME-HASH)")
	flags.StringVar(&f.console, "console", "", "machine whose serial console is this terminal; Ctrl-] leaves it. Without a terminal its output is copied to standard output")
	flags.BoolVar(&f.keep, "keep", false, "keep pools and overlays after the end, until the next run or cosim clean")
	flags.BoolVar(&f.overcommit, "overcommit", false, "run although the pools are larger than memory: a guest that touches too much dies")
	flags.BoolVar(&f.strict, "strict-memory", false, "refuse to run where the pools are larger than what is free now")
	return cmd
}

// check looks at flags and arguments together.
func (f *runFlags) check(cmd *cobra.Command, args []string) error {
	for _, name := range []string{"command", "plan", "name", "run-dir", "pool-dir", "console"} {
		if flag := cmd.Flags().Lookup(name); flag.Changed && flag.Value.String() == "" {
			return usage("--%s is empty", name)
		}
	}
	if f.dryRun && f.command != "" {
		return usage("--dry-run prints the whole plan and --command one process of it: give one of them")
	}
	if f.plan == "" {
		return exactlyOne("one topology file, or --plan FILE")(cmd, args)
	}
	if len(args) > 0 {
		return usage("cosim run takes a topology or --plan, not both")
	}
	for _, name := range []string{"dry-run", "command", "name", "run-dir", "pool-dir", "workspace", "resources"} {
		if cmd.Flags().Changed(name) {
			return usage("--%s has no meaning beside --plan: the plan says it", name)
		}
	}
	return nil
}

func (c *cli) runTopology(f *runFlags) error {
	env, err := execenv.Gather(nil)
	if err != nil {
		return refused(err.Error())
	}
	names, err := session.NewLayout(env, session.Options{
		Name: f.name, RunDir: f.runDir, PoolDir: f.poolDir, Workspace: c.workspace, Topology: f.file,
	})
	var option *session.OptionError
	switch {
	case errors.As(err, &option):
		return usage("%v", err)
	case err != nil:
		return refused(err.Error())
	}
	model, placed, list, err := c.load(f.file, env.PageSize)
	if err != nil {
		return err
	}
	if model == nil {
		return c.topologyFault(list)
	}
	if len(model.Machines) == 0 {
		return &exitError{code: exitTopology, msg: fmt.Sprintf("%s has no machines to run", model.File), hints: []string{"machines of imported files do not run; write them in the top-level document"}}
	}
	kinds := builtin.Table()
	p, more := plan.Make(plan.Input{
		Model: model, Layout: placed, Env: env, Session: names, Host: host{env},
		Adapter: func(k *topology.Kind) adapters.Adapter { return builtin.For(kinds, k) },
	})
	list = append(list, more...).Sorted()
	if p == nil {
		return c.topologyFault(list)
	}
	if err := diag.WriteText(c.stderr, list); err != nil {
		return err
	}
	return c.usePlan(p, f)
}

func (c *cli) topologyFault(list diag.List) error {
	if err := c.printDiagnostics(list); err != nil {
		return err
	}
	return silent(exitTopology)
}

// usePlan prints a plan, one of its commands, or runs it.
func (c *cli) usePlan(p *plan.Plan, f *runFlags) error {
	if err := checkConsole(p, f.console); err != nil {
		return err
	}
	switch {
	case f.command != "":
		return c.printCommand(p, f.command)
	case f.dryRun:
		if err := p.WriteJSON(c.stdout); err != nil {
			return &exitError{code: exitFailed, msg: "printing the plan: " + err.Error()}
		}
		if len(p.Launch.Missing) > 0 {
			return silent(exitRefused)
		}
		return nil
	}
	if missing := len(p.Launch.Missing); missing > 0 && !remote(p) {
		return refused(fmt.Sprintf("nothing was started: this host lacks %s, as said above", plural(missing, "thing")))
	}
	return c.launch(p, nil, f)
}

// remote reports whether a plan has machines on other hosts, which launch refuses first.
func remote(p *plan.Plan) bool {
	return slices.ContainsFunc(p.Launch.Machines, func(m plan.Machine) bool { return m.Placement != topology.LocalAgent })
}

// runPlanFile executes a plan that was printed before.
func (c *cli) runPlanFile(f *runFlags) error {
	data, err := os.ReadFile(f.plan)
	if err != nil {
		return usage("--plan: %v", err)
	}
	page, err := pageSize("")
	if err != nil {
		return err
	}
	p, err := plan.Read(data, page)
	if err != nil {
		return refused(fmt.Sprintf("%s: %v", f.plan, err))
	}
	if err := checkConsole(p, f.console); err != nil {
		return err
	}
	return c.launch(p, data, f)
}
