package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/term"

	"github.com/cosim-go/cosim/relay/call"
)

// A callDisplay shows on standard error how far a call is: the messages of its handler as lines, and on a terminal one
// live line with the progress, drawn at most ten times a second.
type callDisplay struct {
	w      io.Writer
	live   bool
	shared bool // standard output is a terminal too
	width  func() int

	sent  atomic.Int64
	total int64 // bytes of the arguments; below 0 when it is not known

	mu       sync.Mutex
	received int64
	progress float64 // below 0 when the handler has said nothing
	message  string
	drawn    bool // the live line is on the screen
	quiet    bool // and is not to be drawn any more

	redrawing redrawing
}

func newCallDisplay(stderr, stdout io.Writer) *callDisplay {
	d := &callDisplay{w: stderr, progress: -1}
	f, ok := terminalOf(stderr)
	if !ok {
		return d
	}
	d.live = true
	d.width = func() int {
		width, _, err := term.GetSize(int(f.Fd()))
		if err != nil || width < 20 {
			return 80
		}
		return width
	}
	if out, ok := stdout.(*os.File); ok {
		d.shared = term.IsTerminal(int(out.Fd()))
	}
	d.redrawing.start(func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.draw()
	})
	return d
}

// close leaves nothing of the live line. It may be called twice.
func (d *callDisplay) close() {
	if !d.redrawing.end() {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.erase()
}

// expect adds the size of an argument in bytes, below 0 for one that is not known.
func (d *callDisplay) expect(size int64) {
	if size < 0 || d.total < 0 {
		d.total = -1
		return
	}
	d.total += size
}

// count returns a reader of an argument whose bytes count as sent.
func (d *callDisplay) count(r io.Reader) io.Reader { return &countingReader{r, &d.sent} }

type countingReader struct {
	r io.Reader
	n *atomic.Int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// event takes over what an event says.
func (d *callDisplay) event(e *call.Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch e.Kind {
	case call.EventData:
		d.received += int64(len(e.Data))
	case call.EventItem:
		d.received += int64(len(e.Item.CBOR))
	case call.EventProgress:
		d.progress, d.message = e.Progress, e.Log.Message
	case call.EventLog:
		d.erase()
		fmt.Fprintln(d.w, clean(e.Log.Level+": "+e.Log.Message))
	}
}

// say prints a line that stays.
func (d *callDisplay) say(text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.erase()
	fmt.Fprintln(d.w, "cosim: "+text)
}

// giveWay removes the live line for good when standard output is about to write where it stands.
func (d *callDisplay) giveWay() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.shared {
		d.erase()
		d.quiet = true
	}
}

func (d *callDisplay) erase() {
	if d.drawn {
		io.WriteString(d.w, "\r\x1b[K")
		d.drawn = false
	}
}

func (d *callDisplay) draw() {
	if d.live && !d.quiet {
		io.WriteString(d.w, "\r"+cut(clean(d.line()), d.width()-1)+"\x1b[K")
		d.drawn = true
	}
}

// barWidth is how long a bar is, in characters.
const barWidth = 24

// line is the live line: how far the handler is by its own account, what it says of it, and the bytes both ways.
func (d *callDisplay) line() string {
	var parts []string
	if d.progress >= 0 {
		full := int(d.progress*barWidth + 0.5)
		parts = append(parts, fmt.Sprintf("%3.0f%% [%s%s]", d.progress*100, strings.Repeat("#", full), strings.Repeat("-", barWidth-full)))
	}
	sent := d.sent.Load()
	switch {
	case d.total > 0:
		parts = append(parts, fmt.Sprintf("sent %s of %s", humanBytes(sent), humanBytes(d.total)))
	case sent > 0:
		parts = append(parts, "sent "+humanBytes(sent))
	}
	if d.received > 0 {
		parts = append(parts, "received "+humanBytes(d.received))
	}
	if d.message != "" {
		parts = append(parts, d.message)
	}
	if len(parts) == 0 {
		return "waiting"
	}
	return strings.Join(parts, "  ")
}

// humanBytes is a number of bytes as people read it.
func humanBytes(n int64) string {
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	value, unit := float64(n)/1024, "KiB"
	for _, next := range []string{"MiB", "GiB", "TiB"} {
		if value < 1024 {
			break
		}
		value, unit = value/1024, next
	}
	return fmt.Sprintf("%.1f %s", value, unit)
}
