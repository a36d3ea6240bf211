package host

import (
	"errors"
	"fmt"
	"io"

	"github.com/cosim-go/cosim/relay/frame"
)

// obituary says how a process ended, as its requests are told.
func (p *process) obituary(exit Exit, byItself bool) (answer, EventKind) {
	c, d := p.cart, p.doom
	switch {
	case d != nil && d.exact:
		return d.answer, d.kind
	case d != nil:
		a := d.answer
		a.message = fmt.Sprintf("%v %s%s", c, a.message, exit.lastLines())
		return a, d.kind
	case p.failed != nil:
		said := exit.lastLines()
		if byItself && p.link != nil {
			said = "; it " + exit.String()
		}
		return environment(codeSpawnFailed, "%v cannot be started: %v%s", c, p.failed, said), Failed
	}
	return environment(codeDied, "%v %s", c, p.lastWords(exit, byItself)), Died
}

// lastWords says how a process ended that nobody wanted to end.
func (p *process) lastWords(exit Exit, byItself bool) string {
	switch {
	case errors.Is(exit.Err, errImmortal):
		return "closed its output, and did not end when it was killed"
	case p.readErr != io.EOF && !errors.Is(p.readErr, frame.ErrUnexpectedEOF) && !errors.Is(p.readErr, frame.ErrIO):
		return fmt.Sprintf("wrote what is no frame (%v) and was killed%s", p.readErr, exit.lastLines())
	case !byItself:
		return "closed its output and was killed" + exit.lastLines()
	case errors.Is(p.readErr, frame.ErrUnexpectedEOF):
		return exit.how() + " in the middle of a frame" + exit.lastLines()
	}
	return exit.String()
}
