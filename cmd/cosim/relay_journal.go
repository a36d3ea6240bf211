package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A journal prints what happens in a program that serves others, a line an event. Nobody waits for whoever reads it:
// lines for which there is no room are counted, and that is said.
type journal struct {
	w     io.Writer
	lines chan string
	lost  atomic.Int64
	done  chan struct{} // closed when all is printed

	mu     sync.RWMutex
	closed bool
}

// journalRoom is how many lines may wait.
const journalRoom = 1000

// newJournal returns a journal that prints to w. It is to be closed.
func newJournal(w io.Writer) *journal {
	j := &journal{w: w, lines: make(chan string, journalRoom), done: make(chan struct{})}
	go j.print()
	return j
}

// say prints a line, less what would move the cursor.
func (j *journal) say(format string, args ...any) { j.line("cosim: " + fmt.Sprintf(format, args...)) }

func (j *journal) line(text string) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	if j.closed {
		return
	}
	select {
	case j.lines <- clean(text) + "\n":
	default:
		j.lost.Add(1)
	}
}

func (j *journal) print() {
	defer close(j.done)
	for text := range j.lines {
		io.WriteString(j.w, text)
		if n := j.lost.Swap(0); n > 0 {
			fmt.Fprintf(j.w, "cosim: %d lines are missing here: they came faster than they were read\n", n)
		}
	}
}

// close prints what there is, and waits for that, but not for ever. What is said later is not printed.
func (j *journal) close() {
	j.mu.Lock()
	if !j.closed {
		j.closed = true
		close(j.lines)
	}
	j.mu.Unlock()
	select {
	case <-j.done:
	case <-time.After(outputPatience):
	}
}

// logger returns a logger that writes to the journal: what is of level info and above.
func (j *journal) logger() *slog.Logger { return slog.New(&journalHandler{j: j}) }

// A journalHandler makes lines of log records: whom it is about, what happened, and why.
type journalHandler struct {
	j     *journal
	attrs []slog.Attr
}

func (h *journalHandler) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelInfo }

func (h *journalHandler) Handle(_ context.Context, r slog.Record) error {
	var about, cause string
	var rest []string
	var written *slog.Value // to standard error, by a cartridge
	add := func(a slog.Attr) bool {
		switch a.Key {
		case "line":
			written = &a.Value
		case "master":
			about = fmt.Sprintf("host %q: ", a.Value)
		case "cartridge":
			about = fmt.Sprintf("cartridge %q: ", a.Value)
		case "error", "err":
			cause = fmt.Sprintf(": %v", a.Value)
		default:
			rest = append(rest, fmt.Sprintf("%s %v", a.Key, a.Value))
		}
		return true
	}
	for _, a := range h.attrs {
		add(a)
	}
	r.Attrs(add)
	if written != nil {
		h.j.line(about + written.String())
		return nil
	}
	details := ""
	if len(rest) > 0 {
		details = " (" + strings.Join(rest, ", ") + ")"
	}
	h.j.say("%s%s%s%s", about, r.Message, details, cause)
	return nil
}

func (h *journalHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &journalHandler{h.j, append(h.attrs[:len(h.attrs):len(h.attrs)], attrs...)}
}

// WithGroup leaves groups out: those who log here have none.
func (h *journalHandler) WithGroup(string) slog.Handler { return h }
