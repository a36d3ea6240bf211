package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/cosim-go/cosim/runtime/execenv"
	"github.com/cosim-go/cosim/runtime/launch"
	"github.com/cosim-go/cosim/runtime/session"
)

func (c *cli) cleanCommand() *cobra.Command {
	var runDir string
	cmd := &cobra.Command{
		Use:   "clean NAME",
		Short: "Remove what a session left or kept: processes, pools, overlays, sockets, records",
		Long: `Remove what is left of a session that has ended, or whose cosim was killed: its processes,
memory pools, overlays, sockets, logs and records. Only what is proven to be the session's
is touched. What a device wrote into its own output directory stays.`,
		Args:    exactlyOne("the name of a session"),
		PreRunE: func(*cobra.Command, []string) error { return c.checkFormat() },
		RunE:    func(_ *cobra.Command, args []string) error { return c.clean(args[0], runDir) },
	}
	c.formatFlag(cmd)
	cmd.Flags().StringVar(&c.workspace, "workspace", "", "workspace root of the session (default: the working directory)")
	cmd.Flags().StringVar(&runDir, "run-dir", "", "run directory (default: .cosim/NAME in the workspace)")
	return cmd
}

func (c *cli) clean(name, runDir string) error {
	if name == "" {
		return usage("the session name is empty")
	}
	env, err := execenv.Gather(nil)
	if err != nil {
		return refused(err.Error())
	}
	names, err := session.NewLayout(env, session.Options{Name: name, RunDir: runDir, Workspace: c.workspace})
	var option *session.OptionError
	switch {
	case errors.As(err, &option) && option.Option == "--name":
		return usage("session name %q %s", name, option.Reason)
	case err != nil:
		return usage("%v", err)
	}
	swept, err := launch.Clean(names)
	var live *session.LiveError
	var refusal *launch.RefusedError
	switch {
	case errors.As(err, &refusal):
		return launchError(err)
	case errors.As(err, &live):
		return refused(live.Error(), "end it first, with Ctrl-C or SIGTERM to that process")
	case errors.Is(err, fs.ErrNotExist):
		return refused(fmt.Sprintf("there is no session %q in %s", name, names.RunDir))
	case err != nil:
		return &exitError{code: exitFailed, msg: err.Error()}
	}
	if c.format == "json" {
		return json.NewEncoder(c.stdout).Encode(struct {
			Killed  []int    `json:"killed"`
			Removed []string `json:"removed"`
		}{pids(swept), append([]string{}, swept.Removed...)})
	}
	for _, p := range swept.Killed {
		fmt.Fprintf(c.stdout, "killed %s (pid %d)\n", p.ID, p.PID)
	}
	for _, path := range swept.Removed {
		fmt.Fprintf(c.stdout, "removed %s\n", path)
	}
	return nil
}

func pids(s session.Swept) []int {
	out := make([]int, len(s.Killed))
	for i, p := range s.Killed {
		out[i] = p.PID
	}
	return out
}
