package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
)

// A terminal is a pseudo-terminal that a cosim runs in, with what stands on its screen.
type terminal struct {
	t      *testing.T
	master *os.File
	output *stream
	width  int
	cosim  *exec.Cmd
	done   chan struct{} // closed when cosim has ended and all its output is read
}

// inTerminal runs one command line in a terminal of its own.
func (w *workspace) inTerminal(width, height int, args ...string) *terminal {
	w.t.Helper()
	x := &terminal{t: w.t, output: newStream(), width: width, cosim: w.command(args...), done: make(chan struct{})}
	x.cosim.Env = append([]string{"TERM=xterm"}, slices.DeleteFunc(x.cosim.Env, func(v string) bool { return v == "TERM="+os.Getenv("TERM") })...)
	master, err := pty.StartWithSize(x.cosim, &pty.Winsize{Cols: uint16(width), Rows: uint16(height)})
	if err != nil {
		w.t.Fatal(err)
	}
	x.master = master
	go func() {
		defer close(x.done)
		buf := make([]byte, 4096)
		for {
			n, err := master.Read(buf)
			x.output.Write(buf[:n])
			if err != nil { // EIO once nobody has the terminal open
				break
			}
		}
		x.cosim.Wait()
		x.output.end()
	}()
	w.t.Cleanup(func() {
		for range 2 {
			x.cosim.Process.Signal(syscall.SIGINT) // twice kills its session at once
		}
		<-x.done
		master.Close()
	})
	return x
}

// wait waits for the end and returns the exit code.
func (x *terminal) wait() int {
	x.t.Helper()
	p := &process{Cmd: x.cosim, t: x.t, stderr: x.output, done: x.done}
	return p.wait()
}

// press types keys.
func (x *terminal) press(keys string) {
	x.t.Helper()
	if _, err := x.master.Write([]byte(keys)); err != nil {
		x.t.Fatal(err)
	}
}

// await waits until the screen shows, anywhere, what a pattern matches.
func (x *terminal) await(pattern string) {
	x.t.Helper()
	re := regexp.MustCompile("(?m)" + pattern)
	err := poll(func() error {
		if !re.MatchString(x.screen()) {
			return errors.New("the screen does not show " + pattern)
		}
		return nil
	})
	if err != nil {
		x.t.Fatalf("%v\n%s\n[all output]\n%q", err, x.screen(), x.output)
	}
}

// screen is what the terminal shows, scrolled lines included.
func (x *terminal) screen() string { return screen(x.t, x.output.String(), x.width) }

var control = regexp.MustCompile(`^\x1b\[([0-9;]*)([A-Za-z])`)

// screen interprets the output of cosim as a terminal does, with as much as cosim uses:
// line ends, cursor up, erase to the end of the line or screen, colours.
func screen(t *testing.T, output string, width int) string {
	var lines [][]byte
	row, column := 0, 0
	for len(output) > 0 {
		for row >= len(lines) {
			lines = append(lines, nil)
		}
		if m := control.FindStringSubmatch(output); m != nil {
			n, _ := strconv.Atoi(m[1])
			switch m[2] {
			case "A":
				row = max(row-n, 0)
			case "J":
				lines = lines[:row+1]
				lines[row] = lines[row][:min(column, len(lines[row]))]
			case "K":
				lines[row] = lines[row][:min(column, len(lines[row]))]
			case "m":
			default:
				t.Errorf("cosim writes the control sequence %q", m[0])
			}
			output = output[len(m[0]):]
			continue
		}
		switch c := output[0]; c {
		case '\r':
			column = 0
		case '\n':
			row++
		default:
			line := append(lines[row], bytes.Repeat([]byte{' '}, max(column+1-len(lines[row]), 0))...)
			line[column] = c
			lines[row] = line
			column++
		}
		output = output[1:]
	}
	for _, line := range lines {
		if len([]rune(string(line))) > width {
			t.Errorf("a line is longer than the terminal is wide: %q", line)
		}
	}
	return strings.TrimRight(string(bytes.Join(lines, []byte{'\n'})), "\n")
}
