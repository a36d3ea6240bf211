package main

import (
	"bufio"
	"encoding/hex"
	"errors"
	"io/fs"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Each signal that ends the tap removes its socket, and is in the exit status.
func TestSignalsEndTheTap(t *testing.T) {
	for signal, code := range map[syscall.Signal]int{syscall.SIGINT: exitInt, syscall.SIGTERM: exitTerm, syscall.SIGHUP: 129} {
		t.Run(signal.String(), func(t *testing.T) {
			w := newWorkspace(t, "")
			far, err := net.Listen("unix", w.path("far"))
			if err != nil {
				t.Fatal(err)
			}
			defer far.Close()
			p := w.start("relay", "tap", "near", "far")
			p.await("listening on")
			near, err := net.Dial("unix", w.path("near"))
			if err != nil {
				t.Fatal(err)
			}
			defer near.Close()
			conn, err := far.Accept() // open while the tap ends
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			p.signal(signal)
			if got := p.wait(); got != code {
				t.Errorf("cosim = %d, want %d", got, code)
			}
			if _, err := os.Lstat(w.path("near")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the socket is still there: %v", err)
			}
		})
	}
}

// A reader of the output that goes, as head does, ends the tap in order.
func TestTapEndsWithTheReaderOfItsOutput(t *testing.T) {
	w := newWorkspace(t, "")
	far, err := net.Listen("unix", w.path("far"))
	if err != nil {
		t.Fatal(err)
	}
	defer far.Close()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	cmd := w.command("relay", "tap", "near", "far")
	cmd.Stdout, cmd.Stderr = write, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	write.Close()
	near, err := stubConnection("dial", w.path("near"))
	if err != nil {
		t.Fatal(err)
	}
	defer near.Close()
	if line, err := bufio.NewReader(read).ReadString('\n'); line != "1 opened\n" {
		t.Errorf("the tap prints %q, %v", line, err)
	}
	read.Close()
	beat, _ := hex.DecodeString("00000009a40004010702010300")
	if _, err := near.Write(beat); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitFailed || !strings.HasSuffix(stderr.String(), "cosim: printing the output: broken pipe\n") {
		t.Errorf("cosim = %d, %q", code, &stderr)
	}
	if _, err := os.Lstat(w.path("near")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket is still there: %v", err)
	}
}

// Nor does an output that takes nothing keep the tap from ending.
func TestTapEndsThoughItsOutputTakesNothing(t *testing.T) {
	w := newWorkspace(t, "")
	far, err := net.Listen("unix", w.path("far"))
	if err != nil {
		t.Fatal(err)
	}
	defer far.Close()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	defer write.Close()
	size, err := unix.FcntlInt(write.Fd(), unix.F_SETPIPE_SZ, 4096)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := write.Write(make([]byte, size)); err != nil { // there is no room left
		t.Fatal(err)
	}
	cmd := w.command("relay", "tap", "near", "far")
	cmd.Stdout = write
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer time.AfterFunc(time.Minute, func() { cmd.Process.Kill() }).Stop()
	near, err := stubConnection("dial", w.path("near"))
	if err != nil {
		t.Fatal(err)
	}
	defer near.Close()
	conn, err := far.Accept() // the first line is due
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	cmd.Process.Signal(syscall.SIGTERM)
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitTerm {
		t.Errorf("cosim = %d, want %d", code, exitTerm)
	}
	if _, err := os.Lstat(w.path("near")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket is still there: %v", err)
	}
}
