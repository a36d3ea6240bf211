package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/cosim-go/cosim/runtime/supervise"
)

// A display shows a running session on standard error: on a terminal one live line a
// process, elsewhere a plain line an event. The rules: what has happened scrolls up and
// stays; only the lines of processes are drawn again, at most ten times a second; colour
// carries nothing that the words do not say.
type display struct {
	w     io.Writer
	live  bool // redraw lines in place
	color bool
	size  func() (width, height int)
	now   func() time.Time

	mu     sync.Mutex
	order  []string // process identifiers in the order of the plan
	states map[string]supervise.ProcessState
	said   map[string]string // what the last plain line of each process said
	drawn  int               // lines on the terminal that belong to the live part
	paused bool              // a console has the terminal

	redrawing redrawing
}

// newDisplay makes the display of a session. The caller closes it.
func newDisplay(w io.Writer, processes []string) *display {
	d := &display{
		w: w, order: processes, states: make(map[string]supervise.ProcessState, len(processes)),
		said: map[string]string{}, now: time.Now,
	}
	if f, ok := terminalOf(w); ok {
		d.live = true
		d.color = os.Getenv("NO_COLOR") == ""
		d.size = func() (int, int) {
			width, height, err := term.GetSize(int(f.Fd()))
			if err != nil || width < 20 || height < 4 {
				return 80, 24
			}
			return width, height
		}
		d.redrawing.start(func() {
			d.mu.Lock()
			defer d.mu.Unlock()
			if !d.paused {
				d.draw()
			}
		})
	}
	return d
}

// close leaves the last state on the terminal. It may be called twice.
func (d *display) close() {
	if !d.redrawing.end() {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.live && !d.paused {
		d.draw()
	}
}

// note prints a line that stays, with hints below it. Empty hints are left out.
func (d *display) note(text string, hints ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.paused {
		return
	}
	d.erase()
	fmt.Fprintln(d.w, clean(text))
	for _, hint := range hints {
		if hint != "" {
			fmt.Fprintln(d.w, "\thint: "+clean(hint))
		}
	}
	if d.live {
		d.draw()
	}
}

// process takes over a process's new state.
func (d *display) process(p supervise.ProcessState, text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.states[p.ID] = p
	if d.live || d.paused || d.repeats(p, text) {
		return
	}
	d.said[p.ID] = text
	fmt.Fprintln(d.w, p.ID+": "+clean(text))
}

// repeats reports whether a plain line would say again what one said before: that a
// process is starting, or what its failure was, which the summary tells in full.
func (d *display) repeats(p supervise.ProcessState, text string) bool {
	said, known := d.said[p.ID]
	switch p.State {
	case supervise.Starting:
		return text == "started"
	case supervise.Failed:
		return known && strings.Contains(text, said)
	}
	return text == said
}

// pause gives the terminal away, and takes it back.
func (d *display) pause(on bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if on {
		d.erase()
	}
	d.paused = on
}

// erase removes the live lines, so that others can be printed in their place.
func (d *display) erase() {
	if d.drawn > 0 {
		fmt.Fprintf(d.w, "\x1b[%dA\x1b[J", d.drawn)
		d.drawn = 0
	}
}

func (d *display) draw() {
	width, height := d.size()
	lines := d.lines(width, height-2)
	var b strings.Builder
	if d.drawn > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", d.drawn)
	}
	for _, line := range lines {
		b.WriteString(line + "\x1b[K\n")
	}
	b.WriteString("\x1b[J")
	d.drawn = len(lines)
	io.WriteString(d.w, b.String())
}

// lines are the live lines: all processes where there is room, else those that are
// not simply running, and a count of the others.
func (d *display) lines(width, height int) []string {
	show := d.order
	var rest []string
	if len(show) > height {
		show = nil
		for _, id := range d.order {
			if s := d.states[id].State; len(show) < height-1 && s != supervise.Ready && s != supervise.Waiting && s != "" {
				show = append(show, id)
			} else {
				rest = append(rest, id)
			}
		}
	}
	nameWidth := 0
	for _, id := range show {
		nameWidth = max(nameWidth, len(id))
	}
	nameWidth = min(nameWidth, max(width-36, 8))
	lines := make([]string, 0, len(show)+1)
	for _, id := range show {
		lines = append(lines, d.line(id, nameWidth, width))
	}
	if len(rest) > 0 {
		lines = append(lines, cut(d.counts(rest), width))
	}
	return lines
}

func (d *display) line(id string, nameWidth, width int) string {
	p := d.states[id]
	state := p.State
	if state == "" {
		state = supervise.Waiting
	}
	elapsed, pid := "", ""
	if !p.Started.IsZero() {
		end := p.Ended
		if end.IsZero() {
			end = d.now()
		}
		elapsed = end.Sub(p.Started).Round(100 * time.Millisecond).String()
		pid = fmt.Sprintf("pid %d", p.PID)
	}
	name, what := cut(id, nameWidth), fmt.Sprintf("%-11s", word(state))
	if plain := fmt.Sprintf("%-*s  %s %8s  %s", nameWidth, name, what, elapsed, pid); len([]rune(plain)) > width {
		return cut(plain, width) // a line that wraps would not be one line to draw over
	}
	return fmt.Sprintf("%-*s  %s %8s  %s", nameWidth, name, d.paint(state, what), elapsed, pid)
}

// word is a state as people read it.
func word(s supervise.State) string {
	switch s {
	case supervise.Ready:
		return "running"
	case supervise.NotStarted:
		return "not started"
	}
	return string(s)
}

func (d *display) paint(s supervise.State, text string) string {
	if !d.color {
		return text
	}
	code := map[supervise.State]string{
		supervise.Starting: "33", supervise.Ready: "32", supervise.Stopping: "33", supervise.Failed: "31;1", supervise.Waiting: "2", supervise.NotStarted: "2",
	}[s]
	if code == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (d *display) counts(ids []string) string {
	count := map[supervise.State]int{}
	for _, id := range ids {
		s := d.states[id].State
		if s == "" {
			s = supervise.Waiting
		}
		count[s]++
	}
	parts := []string{}
	for _, s := range []supervise.State{supervise.Waiting, supervise.Starting, supervise.Ready, supervise.Stopping, supervise.Exited, supervise.Failed, supervise.NotStarted} {
		if count[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count[s], word(s)))
		}
	}
	return "and " + strings.Join(parts, ", ")
}

// cut shortens a text of a terminal line to a width in characters.
func cut(text string, width int) string {
	runes := []rune(text)
	if len(runes) <= width || width < 1 {
		return text
	}
	return string(runes[:width-1]) + "…"
}

// clean replaces what would move the cursor or change the terminal.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return '?'
		}
		return r
	}, text)
}
