package main

import (
	"io"
	"log/slog"
	"os"
	"strings"
	"testing"
)

func TestJournal(t *testing.T) {
	var out strings.Builder
	j := newJournal(&out)
	log := j.logger()
	j.say("listening on %q", "s\x1b")
	log.Debug("nothing")
	log.Warn("master died", "master", "gpu-a", "error", io.ErrUnexpectedEOF)
	log.Warn("a host was refused", "pid", 12, "error", "no manifest\nat all")
	pid := log.With("cartridge", "hash", "pid", 7)
	pid.Info("stderr", "line", "half\x07 done")
	log.Warn("died", "cartridge", "hash", "version", "1.0", "pid", 7, "message", `cartridge "hash" 1.0 exited with status 3; last lines of its stderr: half done`)
	log.Info("started", "cartridge", "hash", "version", "1.0", "pid", 7, "message", "")
	slog.New(log.Handler().WithGroup("g")).Info("plain", "n", 1)
	j.close()
	j.close()
	j.say("too late")
	const want = `cosim: listening on "s?"
cosim: host "gpu-a": lost: unexpected EOF
cosim: a host was refused (pid 12): no manifest
	at all
hash: half? done
cosim: cartridge "hash": died (pid 7): exited with status 3
cosim: cartridge "hash": started (pid 7)
cosim: plain (n 1)
`
	// The quoted escape is text already, and stays.
	if got := strings.ReplaceAll(out.String(), `s\x1b`, "s?"); got != want {
		t.Errorf("the journal is\n%s\nwant\n%s", got, want)
	}
}

// Nobody waits for a journal that is not read, not even its end for long; what is missing is said.
func TestJournalIsNotRead(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	j := newJournal(write)
	line := strings.Repeat("x", 200)
	const n = 5000
	for range n {
		j.say("%s", line)
	}
	j.close()
	// Those that fit into the pipe are there, and later all that had room.
	done := make(chan struct{})
	go func() {
		defer close(done)
		<-j.done
		write.Close()
	}()
	text, err := io.ReadAll(read)
	<-done
	read.Close()
	lines := strings.Count(string(text), line)
	if err != nil || lines < journalRoom || lines == n || !strings.Contains(string(text), " lines are missing here: they came faster than they were read\n") {
		t.Errorf("%d lines of %d are there, %v", lines, n, err)
	}
}
