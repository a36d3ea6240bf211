package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"al.essio.dev/pkg/shellescape"

	"github.com/cosim-go/cosim/runtime/plan"
	"github.com/cosim-go/cosim/topology/diag"
)

// printCommand prints the command line of one process as it can be pasted into a
// shell. Inherited descriptors cannot, and are told in a comment.
func (c *cli) printCommand(p *plan.Plan, id string) error {
	process := p.Launch.Process(id)
	if process == nil {
		ids := make([]string, len(p.Launch.Processes))
		for i := range p.Launch.Processes {
			ids[i] = p.Launch.Processes[i].ID
		}
		err := &exitError{code: exitUsage, msg: fmt.Sprintf("--command: no process %q in the plan", id)}
		if near := diag.Suggest(id, ids); near != "" {
			err.hints = []string{fmt.Sprintf("did you mean %q?", near)}
		} else if len(ids) <= 16 {
			err.hints = []string{"processes: " + strings.Join(ids, ", ")}
		}
		return err
	}
	words := []string{"cd", shellescape.Quote(process.Dir), "&&"}
	for _, name := range slices.Sorted(maps.Keys(process.Env)) {
		words = append(words, name+"="+shellescape.Quote(process.Env[name]))
	}
	words = append(words, shellescape.Quote(process.Program))
	for _, arg := range process.Args {
		words = append(words, shellescape.Quote(arg))
	}
	for _, fd := range process.FDs {
		fmt.Fprintf(c.stdout, "# descriptor %d is one end of a socket pair, channel %s\n", fd.Number, fd.Channel)
	}
	_, err := fmt.Fprintln(c.stdout, strings.Join(words, " "))
	return err
}
