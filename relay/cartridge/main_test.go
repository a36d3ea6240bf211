package cartridge_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/cartridge"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/manifest"
)

// roleVar makes the test program a cartridge.
const roleVar = "COSIM_TEST_CARTRIDGE"

// earlyStdout is standard output as a package may have kept it.
var earlyStdout = os.Stdout

func TestMain(m *testing.M) {
	switch os.Getenv(roleVar) {
	case "demo":
		demo().Main()
	case "bad":
		with("nonsense", "Title").Main()
	}
	os.Exit(m.Run())
}

func demo() *cartridge.Cartridge {
	c := cartridge.New("demo", "1.2.3", &cartridge.Options{Description: "It shows how."})
	c.Handle(hashCap, "Hash", hash)
	c.Handle("cap:talk", "Talks to standard output", func(ctx context.Context, r *cartridge.Request) error {
		fmt.Println("to os.Stdout")
		fmt.Fprintln(earlyStdout, "to what os.Stdout was")
		command := exec.CommandContext(ctx, "/bin/sh", "-c", "echo to the output of a shell; cat")
		command.Stdin, command.Stdout, command.Stderr = os.Stdin, earlyStdout, os.Stderr
		if err := command.Run(); err != nil {
			return err
		}
		stdin, err := io.ReadAll(os.Stdin)
		if err != nil || len(stdin) > 0 {
			return fmt.Errorf("standard input has %q, %v", stdin, err)
		}
		_, err = r.Output("media:", nil).Write([]byte("done"))
		return err
	})
	c.Handle("cap:crash", "Panics", func(context.Context, *cartridge.Request) error { panic("on purpose") })
	return c
}

// program returns the test program as a cartridge.
func program(t *testing.T, role string, args ...string) (*exec.Cmd, *bytes.Buffer) {
	exe, err := os.Executable()
	require.NoError(t, err)
	c := exec.Command(exe, args...)
	c.Env = append(os.Environ(), roleVar+"="+role)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	return c, &stderr
}

// A processConn is the pipes of a process.
type processConn struct {
	io.Reader
	io.WriteCloser
}

// startProgram starts a cartridge and greets it.
func startProgram(t *testing.T, role string) (*exec.Cmd, *bytes.Buffer, *loopback) {
	c, stderr := program(t, role)
	stdin, err := c.StdinPipe()
	require.NoError(t, err)
	stdout, err := c.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	return c, stderr, newLoopback(t, processConn{stdout, stdin}, frame.DefaultLimits())
}

func TestMainServesOverStdio(t *testing.T) {
	c, stderr, h := startProgram(t, "demo")
	data := pattern(3 << 20)
	back, err := call.Do(t.Context(), h, echoCap, call.Bytes("media:", data))
	require.NoError(t, err)
	require.True(t, bytes.Equal(data, back))
	h.Close()
	require.NoError(t, c.Wait(), "%s", stderr)
	require.Equal(t, io.EOF, h.err)
	require.Empty(t, stderr.String())
}

// Nothing but frames comes out of a cartridge, whatever its handlers print.
func TestHandlersThatPrint(t *testing.T) {
	c, stderr, h := startProgram(t, "demo")
	for range 2 {
		out, err := call.Do(t.Context(), h, "cap:talk")
		require.NoError(t, err)
		require.Equal(t, "done", string(out))
	}
	h.Close()
	require.NoError(t, c.Wait())
	require.Equal(t, io.EOF, h.err)
	lines := "to os.Stdout\nto what os.Stdout was\nto the output of a shell\n"
	require.Equal(t, lines+lines, stderr.String())
}

// A panic is logged, and is not the end.
func TestMainSurvivesAPanic(t *testing.T) {
	c, stderr, h := startProgram(t, "demo")
	_, err := call.Do(t.Context(), h, "cap:crash")
	require.ErrorIs(t, err, &call.Error{Code: "HANDLER_ERROR", Message: "the handler panicked: on purpose"})
	_, err = call.Do(t.Context(), h, hashCap, call.Bytes("media:", nil))
	require.NoError(t, err)
	h.Close()
	require.NoError(t, c.Wait())
	require.Contains(t, stderr.String(), "on purpose")
	require.Contains(t, stderr.String(), "main_test.go", "the stack")
}

func TestMainTellsPeopleWhatItIs(t *testing.T) {
	for _, test := range []struct {
		args   []string
		status int
	}{{[]string{"--help"}, 0}, {[]string{"help"}, 0}, {[]string{"serve"}, 2}} {
		c, stderr := program(t, "demo", test.args...)
		out, _ := c.Output()
		require.Equal(t, test.status, c.ProcessState.ExitCode())
		require.Contains(t, string(out), "demo 1.2.3 is a cartridge")
		require.Contains(t, string(out), "It shows how.")
		require.Contains(t, string(out), hashCap)
		require.Empty(t, stderr.String())
	}
	c, _ := program(t, "demo", "manifest")
	out, err := c.Output()
	require.NoError(t, err)
	require.True(t, json.Valid(out))
	m, err := manifest.ParseCartridge(out)
	require.NoError(t, err)
	require.Equal(t, "demo", m.Name)
}

func TestMainThatFails(t *testing.T) {
	c, stderr := program(t, "bad")
	out, err := c.Output()
	require.Error(t, err)
	require.Equal(t, 1, c.ProcessState.ExitCode())
	require.Empty(t, out)
	require.Contains(t, stderr.String(), `demo: cap "nonsense"`)

	c, stderr = program(t, "demo")
	c.Stdin = bytes.NewReader([]byte{0, 0, 0, 1, 0xff}) // no HELLO
	out, err = c.Output()
	require.Error(t, err)
	require.Equal(t, 1, c.ProcessState.ExitCode())
	require.Empty(t, out)
	require.Contains(t, stderr.String(), "demo: ")
}
