package main

import (
	"os"
	"strings"
	"testing"
)

// Output that cannot be written is no mistake in the command line.
func TestOutputThatCannotBeWritten(t *testing.T) {
	w := newWorkspace(t, "-- t.yaml --\nversion: 1\n-- v.json --\n{\"cases\": [{\"hex\": \"\", \"checksum\": 14695981039346656037}]}\n")
	for _, args := range []string{
		"schema", "version", "completion bash", "layout t.yaml", "validate t.yaml", "validate --format json t.yaml",
		"relay check-vectors v.json", "relay check-vectors --format json v.json", "relay bench --round 1ns --format json", "relay bench --round 1ns",
	} {
		t.Run(args, func(t *testing.T) {
			full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer full.Close()
			var stderr strings.Builder
			cmd := w.command(strings.Fields(args)...)
			cmd.Stdout, cmd.Stderr = full, &stderr
			if err := cmd.Run(); cmd.ProcessState.ExitCode() != exitFailed || stderr.String() != "cosim: printing the output: no space left on device\n" {
				t.Errorf("cosim %s = %v, %q", args, err, &stderr)
			}
		})
	}
}

// A reader that goes, as head does, does not end cosim before it has removed what the
// session made; that nothing is left is checked when the workspace goes.
func TestASessionOutlivesTheReaderOfItsOutput(t *testing.T) {
	w := newWorkspace(t, `
-- t.yaml --
version: 1
kinds:
  sim: {role: vhost, program: sh, args: [-c, "touch {{workspace}}/started; while [ ! -e {{workspace}}/go ]; do sleep 0.01; done"]}
machines:
  - {id: m0, vhost: {kind: sim, memory: 1M}}
`)
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := w.command("run", "t.yaml")
	cmd.Stderr = write
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	write.Close()
	if _, err := read.Read(make([]byte, 1)); err != nil {
		t.Error(err)
	}
	read.Close()
	w.write("go", "")
	cmd.Wait()
	if s := w.state("t"); s.Phase != "ended" || s.ExitCode == nil || *s.ExitCode != 0 {
		t.Errorf("session.json = %+v, want an end with code 0", s)
	}
}
