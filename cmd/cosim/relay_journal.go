package main

import (
	"cmp"
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

// say prints a message, further lines of it indented.
func (j *journal) say(format string, args ...any) { j.line("cosim: " + fmt.Sprintf(format, args...)) }

// line prints a text, less what would move the cursor.
func (j *journal) line(text string) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	if j.closed {
		return
	}
	select {
	case j.lines <- indented(text):
	default:
		j.lost.Add(1)
	}
}

func indented(text string) string { return strings.ReplaceAll(cleanLines(text), "\n", "\n\t") + "\n" }

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
	values := map[string]string{}
	var rest []string
	add := func(a slog.Attr) bool {
		values[a.Key] = a.Value.String()
		switch a.Key {
		case "line", "master", "cartridge", "version", "error", "err", "message":
		default:
			rest = append(rest, a.Key+" "+values[a.Key])
		}
		return true
	}
	for _, a := range h.attrs {
		add(a)
	}
	r.Attrs(add)
	if line, ok := values["line"]; ok { // what a cartridge has written to standard error
		h.j.line(values["cartridge"] + ": " + line)
		return nil
	}
	what := r.Message
	if what == "master died" {
		what = "lost"
	}
	if len(rest) > 0 {
		what += " (" + strings.Join(rest, ", ") + ")"
	}
	if why := reasonIn(values); why != "" {
		what += ": " + why
	}
	h.j.say("%s%s", subjectIn(values), what)
	return nil
}

// subjectIn returns whom a record is about.
func subjectIn(values map[string]string) string {
	if id, ok := values["master"]; ok {
		return fmt.Sprintf("host %q: ", id)
	}
	if id, ok := values["cartridge"]; ok {
		return fmt.Sprintf("cartridge %q: ", id)
	}
	return ""
}

// reasonIn returns why a thing happened, without what the line says already or others said before: the name of the
// cartridge, and the last lines that it wrote.
func reasonIn(values map[string]string) string {
	why := cmp.Or(values["error"], values["err"], values["message"])
	why = strings.TrimPrefix(why, fmt.Sprintf("cartridge %q %s ", values["cartridge"], values["version"]))
	why, _, _ = strings.Cut(why, "; last lines of its stderr: ")
	return why
}

func (h *journalHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &journalHandler{h.j, append(h.attrs[:len(h.attrs):len(h.attrs)], attrs...)}
}

// WithGroup leaves groups out: those who log here have none.
func (h *journalHandler) WithGroup(string) slog.Handler { return h }
