package relaytest

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/synctest"
)

// A witness is a test that is watched failing.
type witness struct {
	testing.TB
	cleanups []func()
	said     []string
}

func (w *witness) Helper()          {}
func (w *witness) Cleanup(f func()) { w.cleanups = append(w.cleanups, f) }
func (w *witness) Errorf(format string, args ...any) {
	w.said = append(w.said, fmt.Sprintf(format, args...))
}

func (w *witness) end() string {
	for _, f := range w.cleanups {
		f()
	}
	return strings.Join(w.said, "\n")
}

func TestNoLeaksSaysWhatIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // five seconds of patience cost nothing here
		stop := make(chan struct{})
		w := &witness{TB: t}
		NoLeaks(w)
		go func() { <-stop }()
		file, err := os.Open("leak_test.go")
		if err != nil {
			t.Fatal(err)
		}
		said := w.end()
		if !strings.Contains(said, "leaves a goroutine") || !strings.Contains(said, "TestNoLeaksSaysWhatIsLeft") {
			t.Errorf("a goroutine that was left: said %q", said)
		}
		if !strings.Contains(said, "leaves files open") || !strings.Contains(said, "leak_test.go") {
			t.Errorf("a file that was left: said %q", said)
		}
		close(stop)
		file.Close()
	})
}

func TestNoLeaksAllowsWhatEnds(t *testing.T) {
	w := &witness{TB: t}
	NoLeaks(w)
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	go io.Copy(io.Discard, in)
	out.Close()
	in.Close()
	if said := w.end(); said != "" {
		t.Errorf("nothing was left: said %q", said)
	}
}
