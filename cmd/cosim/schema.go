package main

import (
	"github.com/spf13/cobra"

	"github.com/cosim-go/cosim/adapters/builtin"
	"github.com/cosim-go/cosim/topology/jsonschema"
)

func (c *cli) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print a JSON Schema of topology documents, for editors",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			text, err := jsonschema.Generate(builtin.Table().Kinds())
			if err != nil {
				return &exitError{code: exitFailed, msg: err.Error()}
			}
			_, err = c.stdout.Write(text)
			return err
		},
	}
}
