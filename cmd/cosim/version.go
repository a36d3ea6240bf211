package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func (c *cli) versionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Args:    noArgs,
		PreRunE: func(*cobra.Command, []string) error { return c.checkFormat() },
		RunE: func(*cobra.Command, []string) error {
			version, revision := buildVersion()
			if c.format == "json" {
				return json.NewEncoder(c.stdout).Encode(map[string]string{"version": version, "revision": revision, "go": runtime.Version()})
			}
			if revision != "" {
				version += " (" + revision + ")"
			}
			_, err := fmt.Fprintf(c.stdout, "cosim %s, %s %s/%s\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
	c.formatFlag(cmd)
	return cmd
}

// buildVersion reads what the Go tool recorded: the module's version, and the commit
// where it was built from a checkout.
func buildVersion() (version, revision string) {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)", ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			revision = s.Value[:min(12, len(s.Value))]
		}
	}
	return info.Main.Version, revision
}
