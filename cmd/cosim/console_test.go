package main

import (
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// On a terminal --console joins it to the guest's serial line: keys, Ctrl-C among them, go to the
// guest until Ctrl-] leaves the console. The session goes on, the terminal is as it was,
// and Ctrl-C is cosim's again.
func TestConsole(t *testing.T) {
	t.Parallel()
	w := newEchoWorkspace(t, echoTopology)
	x := w.inTerminal(100, 24, "run", "--console", "m0", "echo.yaml")
	cooked := x.mode()
	x.await(`console of m0; Ctrl-\] leaves it`)
	x.awaitOutput("echo\r\n")
	if x.mode() == cooked {
		t.Error("the terminal is not raw while the guest has it")
	}
	x.press("hello")
	x.awaitOutput("echo\r\nhello")
	x.press("\x03\x1a\x1c")
	x.awaitOutput("hello\x03\x1a\x1c")
	if state := w.state("echo"); state.Phase != "running" {
		t.Errorf("the session is %s after Ctrl-C, want it running", state.Phase)
	}
	x.press("bye")
	x.awaitOutput("bye")
	x.press("\x1d")
	x.await(`^m0/vhost +running `)
	if x.mode() != cooked {
		t.Error("the terminal is left raw")
	}
	x.press("\x03") // in a cooked terminal this is SIGINT
	if code := x.wait(); code != exitInt {
		t.Errorf("cosim = %d after Ctrl-C, want %d\n%s", code, exitInt, x.screen())
	}
	if log := w.read(".cosim/echo/m0/serial.log"); log != "echo\r\nhello\x03\x1a\x1cbye" {
		t.Errorf("the serial log holds %q", log)
	}
}

// The console ends with the guest, and gives the terminal back.
func TestConsoleEndsWithTheGuest(t *testing.T) {
	t.Parallel()
	w := newEchoWorkspace(t, echoTopology)
	x := w.inTerminal(100, 24, "run", "--console", "m0", "echo.yaml")
	cooked := x.mode()
	x.awaitOutput("echo\r\n")
	x.press("last words.")
	if code := x.wait(); code != 0 {
		t.Errorf("cosim = %d, want 0\n%s", code, x.screen())
	}
	if x.mode() != cooked {
		t.Error("the terminal is left raw")
	}
	if got := x.screen(); !strings.Contains(got, "last words\n") || !strings.HasSuffix(strings.Split(got, " after ")[0], `cosim: session "echo" ended well`) {
		t.Errorf("the screen shows\n%s", got)
	}
}

// Without a terminal the serial output goes to standard output, all of it and nothing
// else, while the line stays free for others.
func TestConsoleWithoutATerminal(t *testing.T) {
	t.Parallel()
	w := newEchoWorkspace(t, strings.Replace(echoTopology, "echo.yaml", "ends.yaml", 1))
	p := w.start("run", "--console", "m0", "ends.yaml")
	if !p.stdout.await("echo\r\n") {
		t.Fatalf("standard output has %q\n%s", p.stdout, p.stderr)
	}
	typeKey("some text")(t, w, 0)
	if !p.stdout.await("some text") {
		t.Errorf("standard output has %q", p.stdout)
	}
	p.signal(syscall.SIGTERM)
	if code := p.wait(); code != exitTerm {
		t.Errorf("cosim = %d, want %d", code, exitTerm)
	}
	if got := p.stdout.String(); got != "echo\r\nsome text" {
		t.Errorf("standard output has %q", got)
	}
}

// mode is the terminal's local and input modes: what is done with typed keys.
func (x *terminal) mode() [2]uint32 {
	x.t.Helper()
	m, err := unix.IoctlGetTermios(int(x.master.Fd()), unix.TCGETS)
	if err != nil {
		x.t.Fatal(err)
	}
	return [2]uint32{m.Lflag, m.Iflag}
}

// awaitOutput waits for a text as cosim writes it.
func (x *terminal) awaitOutput(text string) {
	x.t.Helper()
	if !x.output.await(text) {
		x.t.Fatalf("the terminal did not get %q but %q", text, x.output)
	}
}
