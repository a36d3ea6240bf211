package main

import (
	"os"
	"path/filepath"
	"strings"

	"al.essio.dev/pkg/shellescape"

	"github.com/cosim-go/cosim/runtime/launch"
	"github.com/cosim-go/cosim/runtime/session"
)

// commandHint tells how to see the whole command of the process that failed first.
func (c *cli) commandHint(r *launch.Result, f *runFlags) string {
	if r.First == nil || f.plan != "" || f.file == "-" {
		return "its whole command is in " + r.Session.PlanFile()
	}
	words := []string{"cosim", "run", "--command", r.First.Process}
	for _, flag := range []struct{ name, value string }{
		{"workspace", c.workspace}, {"resources", c.resources}, {"name", f.name}, {"run-dir", f.runDir}, {"pool-dir", f.poolDir},
	} {
		if flag.value != "" {
			words = append(words, "--"+flag.name, flag.value)
		}
	}
	return "see its whole command with: " + quoted(append(words, f.file))
}

// cleanCommand is the command line that removes a session.
func cleanCommand(names session.Layout) string {
	words := []string{"cosim", "clean"}
	here, err := os.Getwd()
	if err != nil || filepath.Join(here, session.DirName, names.Name) != names.RunDir {
		words = append(words, "--run-dir", names.RunDir)
	}
	return quoted(append(words, names.Name))
}

// quoted is a command line that can be pasted into a shell.
func quoted(words []string) string {
	for i, w := range words {
		words[i] = shellescape.Quote(w)
	}
	return strings.Join(words, " ")
}
