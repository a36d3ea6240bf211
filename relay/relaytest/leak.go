package relaytest

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	leakPatience = 5 * time.Second      // how long goroutines that have been told to end may still take
	leakPause    = 5 * time.Millisecond // between two looks
)

// NoLeaks fails the test if, at its end, there are goroutines or open files that were not there
// when NoLeaks was called. It gives goroutines that end five seconds to do so.
//
// Cleanups that are registered after the call run before the check. Not for tests that run in
// parallel: what others have open at the end would count. Files are looked at where
// /proc/self/fd or /dev/fd tells them. Whoever leaves something behind on purpose, such as a
// cache of connections, calls NoLeaks after that.
func NoLeaks(t testing.TB) {
	t.Helper()
	goroutines, files := goroutineIDs(), openFiles()
	t.Cleanup(func() {
		t.Helper()
		left := newGoroutines(goroutines)
		for waited := time.Duration(0); len(left) > 0 && waited < leakPatience; waited += leakPause {
			time.Sleep(leakPause)
			left = newGoroutines(goroutines)
		}
		for _, stack := range left {
			t.Errorf("the test leaves a goroutine:\n%s", stack)
		}
		if more := without(openFiles(), files); len(more) > 0 {
			t.Errorf("the test leaves files open: %s", strings.Join(more, ", "))
		}
	})
}

// stacks returns the stack of each goroutine, first its own.
func stacks() [][]byte {
	for size := 64 << 10; ; size *= 2 {
		buf := make([]byte, size)
		if n := runtime.Stack(buf, true); n < size {
			return bytes.Split(buf[:n], []byte("\n\n"))
		}
	}
}

func goroutineIDs() map[string]bool {
	ids := map[string]bool{}
	for _, stack := range stacks() {
		ids[goroutineID(stack)] = true
	}
	return ids
}

// goroutineID cuts the number out of "goroutine 7 [running]:".
func goroutineID(stack []byte) string {
	id, _, _ := strings.Cut(strings.TrimPrefix(string(stack[:min(len(stack), 32)]), "goroutine "), " ")
	return id
}

// newGoroutines returns the stacks of goroutines that are not among those given. The one that
// asks does not count: a cleanup may run on another goroutine than its test.
func newGoroutines(known map[string]bool) [][]byte {
	var left [][]byte
	for _, stack := range stacks()[1:] {
		if !known[goroutineID(stack)] && !standing(stack) {
			left = append(left, stack)
		}
	}
	return left
}

// standing reports whether a goroutine is of those that the testing package and os/signal keep.
func standing(stack []byte) bool {
	return bytes.Contains(stack, []byte("\ncreated by testing.")) || bytes.Contains(stack, []byte("\ncreated by os/signal."))
}

// openFiles returns what the process's descriptors point to, but for the Go runtime's poller.
func openFiles() []string {
	var files []string
	for _, dir := range []string{"/proc/self/fd", "/dev/fd"} {
		links, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil || len(links) == 0 {
			continue
		}
		for _, link := range links {
			target, err := os.Readlink(link)
			if err != nil {
				continue // closed since: the directory itself
			}
			if !strings.HasPrefix(target, "anon_inode:[event") {
				files = append(files, target)
			}
		}
		return files
	}
	return nil
}

func without(list, minus []string) []string {
	minus = slices.Clone(minus)
	var rest []string
	for _, s := range list {
		if i := slices.Index(minus, s); i >= 0 {
			minus = slices.Delete(minus, i, i+1)
		} else {
			rest = append(rest, s)
		}
	}
	return rest
}
