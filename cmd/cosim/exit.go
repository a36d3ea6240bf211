package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
)

// The exit codes of cosim.
const (
	exitTopology = 1 // the topology has errors, or is not there
	exitUsage    = 2 // wrong usage of the command line
	exitRefused  = 3 // refused before anything was created
	exitFailed   = 4 // the session failed: a build, a start, a process, a verdict
	exitInt      = 130
	exitTerm     = 143
)

// An exitError ends the command with a code. Its message and hints are printed where
// there are any; without, the command has said everything already.
type exitError struct {
	code  int
	msg   string
	hints []string
}

func (e *exitError) Error() string { return e.msg }

// silent ends the command with a code and no further word.
func silent(code int) error { return &exitError{code: code} }

func usage(format string, args ...any) error {
	return &exitError{code: exitUsage, msg: fmt.Sprintf(format, args...)}
}

func refused(msg string, hints ...string) error {
	return &exitError{code: exitRefused, msg: msg, hints: hints}
}

// report prints an error of a command and returns the exit code it calls for. An
// error that is no exitError comes from writing what was asked for, or else from reading
// the command line.
func report(stderr io.Writer, err error) int {
	if err == nil {
		return 0
	}
	var exit *exitError
	var output *fs.PathError
	if !errors.As(err, &exit) && errors.As(err, &output) {
		exit = &exitError{code: exitFailed, msg: "printing the output: " + output.Err.Error()}
	} else if exit == nil {
		exit = &exitError{code: exitUsage, msg: err.Error(), hints: []string{"see cosim --help"}}
	}
	if exit.msg != "" {
		fmt.Fprintf(stderr, "cosim: %s\n", strings.ReplaceAll(exit.msg, "\n", "\n\t"))
	}
	for _, hint := range exit.hints {
		fmt.Fprintf(stderr, "\thint: %s\n", hint)
	}
	return exit.code
}
