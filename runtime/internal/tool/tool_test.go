package tool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cosim-go/cosim/runtime/internal/leaktest"
	"github.com/cosim-go/cosim/runtime/internal/proc"
)

func TestMain(m *testing.M) {
	leaktest.Main(m, map[string]func(){"run": func() { Run(context.Background(), sh(os.Args[1])) }})
}

func sh(script string) Command { return Command{Path: "/bin/sh", Args: []string{"-c", script}} }

func TestRunPassesWhatTheCommandSays(t *testing.T) {
	dir := t.TempDir()
	var out bytes.Buffer
	c := sh(`pwd; echo "$COSIM_X"; echo err >&2; cat`)
	c.Dir, c.Env, c.Output = dir, []string{"COSIM_X=a b"}, &out
	if err := Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if want := dir + "\na b\nerr\n"; out.String() != want {
		t.Errorf("output = %q, want %q", out.String(), want)
	}
}

func TestAFailureTellsStatusAndLastLines(t *testing.T) {
	for name, tt := range map[string]struct{ script, want string }{
		"no output":  {"exit 3", "/bin/sh exited with status 3"},
		"one line":   {"echo no room; exit 3", "/bin/sh exited with status 3: no room"},
		"two lines":  {"echo a; echo b; exit 1", "/bin/sh exited with status 1; last lines of its output:\n\ta\n\tb"},
		"many lines": {"seq 2000; exit 1", "/bin/sh exited with status 1; last lines of its output:\n\t1991\n\t1992\n\t1993\n\t1994\n\t1995\n\t1996\n\t1997\n\t1998\n\t1999\n\t2000"},
		"a signal":   {"kill -ABRT $$", "/bin/sh was ended by signal SIGABRT"},
	} {
		t.Run(name, func(t *testing.T) {
			err := Run(t.Context(), sh(tt.script))
			if err == nil || err.Error() != tt.want {
				t.Errorf("Run = %q, want %q", err, tt.want)
			}
		})
	}
}

func TestTheTailIsBounded(t *testing.T) {
	tail := &tail{}
	for range 1000 {
		tail.Write([]byte(strings.Repeat("x", 997) + "\n"))
	}
	tail.Write(bytes.Repeat([]byte("y"), 1<<20))
	if len(tail.end) > 2*tailBytes || len(strings.Join(tail.lines(), "\n")) > tailBytes {
		t.Errorf("kept %d bytes, shown %d", len(tail.end), len(strings.Join(tail.lines(), "\n")))
	}
}

func TestAProgramThatIsNotThere(t *testing.T) {
	err := Run(t.Context(), Command{Path: "/nonexistent/tool"})
	var failure *Failure
	if !errors.Is(err, os.ErrNotExist) || errors.As(err, &failure) {
		t.Errorf("Run = %v, want os.ErrNotExist and no Failure", err)
	}
}

// requireEnd fails the test unless the process of a number that a script printed ends.
func requireEnd(t *testing.T, pid string) {
	t.Helper()
	n, err := strconv.Atoi(strings.TrimSpace(pid))
	if err != nil {
		t.Fatal(err)
	}
	if id, err := proc.Lookup(n); err == nil && id.Wait(10*time.Second) != nil {
		t.Errorf("process %d lives", n)
	}
}

func TestTheEndOfTheContextStopsTheGroup(t *testing.T) {
	for name, script := range map[string]string{
		"obeys SIGTERM":   `sleep 1000 & echo $!; wait`,
		"ignores SIGTERM": `trap "" TERM; sleep 1000 & echo $!; while :; do wait; done`,
	} {
		t.Run(name, func(t *testing.T) {
			out := make(lineWriter, 8)
			ctx, cancel := context.WithCancelCause(t.Context())
			pid := make(chan string, 1)
			go func() {
				pid <- <-out
				cancel(errors.New("enough"))
			}()
			c := sh(script)
			c.Output, c.Grace = out, 50*time.Millisecond
			err := Run(ctx, c)
			var failure *Failure
			if !errors.As(err, &failure) || failure.Cause == nil || !strings.Contains(err.Error(), "/bin/sh was stopped: enough") {
				t.Errorf("Run = %v, want a failure with its cause", err)
			}
			requireEnd(t, <-pid)
		})
	}
}

type lineWriter chan string

func (w lineWriter) Write(b []byte) (int, error) {
	for line := range strings.Lines(string(b)) {
		w <- strings.TrimSpace(line)
	}
	return len(b), nil
}

func TestWhatAProgramLeavesBehindIsKilled(t *testing.T) {
	var out bytes.Buffer
	c := sh(`sleep 1000 & echo $!`)
	c.Output = &out
	if err := Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	requireEnd(t, out.String())
}

func TestADaemonWithThePipeDoesNotBlock(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	if err := Run(t.Context(), sh(fmt.Sprintf("setsid sh -c 'echo $$ >%s; exec sleep 1000' & until [ -s %s ]; do :; done", file, file))); err != nil {
		t.Errorf("Run = %v", err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	syscall.Kill(pid, syscall.SIGKILL)
}

func TestAnOutputThatCannotBeKeptIsAnError(t *testing.T) {
	c := sh("seq 100000") // more than a pipe holds
	c.Output = failing{}
	if err := Run(t.Context(), c); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("Run = %v, want the writer's error", err)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestTheProgramDiesWithThisProcess(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	if err := syscall.Mkfifo(file, 0o600); err != nil {
		t.Fatal(err)
	}
	p := leaktest.Helper(t, "run", nil, "exec 3>"+file+"; echo $$ >&3; exec sleep 1000")
	fifo, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer fifo.Close()
	line := make([]byte, 32)
	n, err := fifo.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	p.Kill()
	// The program holds the other end of the fifo, which ends with it.
	if _, err := io.Copy(io.Discard, fifo); err != nil {
		t.Fatal(err)
	}
	requireEnd(t, string(line[:n]))
}
