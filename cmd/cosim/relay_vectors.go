package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/cosim-go/cosim/relay/relaytest"
)

func (c *cli) vectorsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check-vectors FILE...",
		Short: "Run files of golden frames, checksums, reorder scripts and URNs",
		Long: `Run the cases of vector files against this program's codec, reader, checksums, reorder
buffer and URNs, and print a line for each failure and the counts of each section. What a
file holds is told by its sections (valid, provisional, invalid, streams; cases; scripts;
parse, dispatch, media_conforms, cap_equivalent, ranking), not by its name. Whatever is not
known in a file is a failure, and so is a file without cases.
The file "-" is standard input.

Exit codes: 0 all cases passed, 1 some did not, 2 a file cannot be read or is no JSON.`,
		Args:    atLeastOne("a vector file"),
		PreRunE: func(*cobra.Command, []string) error { return c.checkFormat() },
		RunE:    func(_ *cobra.Command, files []string) error { return c.checkVectors(files) },
	}
	c.formatFlag(cmd)
	return cmd
}

// A checkedFile is what came of a file, as it is printed in JSON.
type checkedFile struct {
	File     string           `json:"file"`
	Sections []checkedSection `json:"sections"`
	Failures []string         `json:"failures"`
	Error    string           `json:"error"` // why it cannot be read; or empty
}

type checkedSection struct {
	Name   string `json:"name"`
	Run    int    `json:"run"`
	Passed int    `json:"passed"`
}

func (c *cli) checkVectors(files []string) error {
	code := 0
	checked := make([]checkedFile, len(files))
	for i, file := range files {
		checked[i] = c.checkFile(file)
		switch {
		case checked[i].Error != "":
			code = exitUsage
		case len(checked[i].Failures) > 0:
			code = max(code, exitTopology)
		}
	}
	if err := c.printChecked(checked); err != nil {
		return err
	}
	if code != 0 {
		return silent(code)
	}
	return nil
}

func (c *cli) checkFile(file string) checkedFile {
	out := checkedFile{File: file, Sections: []checkedSection{}, Failures: []string{}}
	data, err := c.readVectors(&out.File)
	if err != nil {
		out.Error = fmt.Sprintf("reading %s: %v", out.File, plainError(err))
		return out
	}
	report, err := relaytest.CheckVectors(out.File, data)
	if err != nil {
		out.Error = "reading " + err.Error()
		return out
	}
	for _, s := range report.Sections {
		out.Sections = append(out.Sections, checkedSection(s))
	}
	out.Failures = append(out.Failures, report.Failures...)
	return out
}

// readVectors reads a file; standard input gets the name it is shown under.
func (c *cli) readVectors(file *string) ([]byte, error) {
	if *file == "-" {
		*file = stdinName
		return io.ReadAll(c.stdin)
	}
	return os.ReadFile(*file)
}

func (c *cli) printChecked(files []checkedFile) error {
	if c.format == "json" {
		encoder := json.NewEncoder(c.stdout)
		encoder.SetEscapeHTML(false)
		return encoder.Encode(map[string]any{"version": 1, "files": files})
	}
	for _, f := range files {
		if f.Error != "" {
			fmt.Fprintln(c.stderr, "cosim: "+f.Error)
		}
		for _, failure := range f.Failures {
			if _, err := fmt.Fprintln(c.stdout, clean(failure)); err != nil {
				return err
			}
		}
		for _, s := range f.Sections {
			if _, err := fmt.Fprintf(c.stdout, "%s: %s: %d run, %d passed\n", f.File, s.Name, s.Run, s.Passed); err != nil {
				return err
			}
		}
	}
	return nil
}
