package main

import (
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"
)

const redrawEvery = 100 * time.Millisecond

// A redrawing draws the live part of a display over and over, until it is stopped. The zero value draws nothing.
type redrawing struct {
	stop  chan struct{} // nil before start
	done  sync.WaitGroup
	ended bool
}

// start begins to call draw.
func (r *redrawing) start(draw func()) {
	r.stop = make(chan struct{})
	r.done.Go(func() {
		tick := time.NewTicker(redrawEvery)
		defer tick.Stop()
		for {
			select {
			case <-r.stop:
				return
			case <-tick.C:
				draw()
			}
		}
	})
}

// end returns when draw is not called any more. It reports whether this was the first call.
func (r *redrawing) end() bool {
	if r.ended {
		return false
	}
	r.ended = true
	if r.stop != nil {
		close(r.stop)
		r.done.Wait()
	}
	return true
}

// terminalOf returns the terminal that w is, if it is one on which lines can be drawn again.
func terminalOf(w io.Writer) (*os.File, bool) {
	f, ok := w.(*os.File)
	return f, ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb"
}
