// Package decode reads sections and scalars out of values, and reports what is wrong
// with them.
//
// A [Context] knows where in the model it is and where problems go. Its methods return
// what was read and whether it could be used; where it could not, the problem has been
// reported and the caller has nothing to add.
package decode

import (
	"strconv"
	"strings"

	"github.com/cosim-go/cosim/topology/diag"
	"github.com/cosim-go/cosim/topology/internal/report"
	"github.com/cosim-go/cosim/topology/internal/source"
)

// A Context is the place of one decoding run.
type Context struct {
	Sink *report.Sink

	// Budget is that of the load. Once it has run out nothing is reported: what can
	// be seen then is not all there is.
	Budget *source.Budget

	// Partial makes required fields optional, for templates that nobody uses.
	Partial bool

	path     []step
	records  []*Record // free ones
	compared *int      // names, for suggestions
}

// Trial is a context for an attempt whose problems may be dropped: its own sink and path,
// the bounds of c.
func (c *Context) Trial() *Context {
	if c.compared == nil {
		c.compared = new(int)
	}
	return &Context{Sink: &report.Sink{}, Budget: c.Budget, Partial: true, compared: c.compared}
}

type step struct {
	name  string // empty for an item of a sequence
	index int
}

// Enter goes into a field. Leave takes one step back.
func (c *Context) Enter(name string) { c.path = append(c.path, step{name: name}) }

// EnterItem goes into an item of a sequence. Leave takes one step back.
func (c *Context) EnterItem(i int) { c.path = append(c.path, step{index: i}) }

// Leave takes back the last Enter or EnterItem.
func (c *Context) Leave() { c.path = c.path[:len(c.path)-1] }

// Path is the present place, such as machines[0].devices[1].kind.
func (c *Context) Path() string {
	var b strings.Builder
	for i, s := range c.path {
		switch {
		case s.name == "":
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
		case i > 0:
			b.WriteString("." + s.name)
		default:
			b.WriteString(s.name)
		}
	}
	return b.String()
}

// label names the present place in a message.
func (c *Context) label() string {
	for i := len(c.path) - 1; i >= 0; i-- {
		if name := c.path[i].name; name != "" {
			if i < len(c.path)-1 {
				return "an item of " + strconv.Quote(name)
			}
			return strconv.Quote(name)
		}
	}
	return "the document"
}

// A Problem is what there is to say about a value.
type Problem struct {
	Code, Message, Hint string
	Related             []diag.Related
	Err                 error
}

// Report reports a problem with the value v, and names the `use` that brought it in.
// Of a value whose structure is wrong nothing more is said.
func (c *Context) Report(v source.Value, p Problem) {
	if c.silent() || v.Spoilt() {
		return
	}
	c.Sink.Add(diag.Diagnostic{
		Pos: v.Pos(), End: v.End(), Code: p.Code, Path: c.Path(),
		Message: p.Message, Hint: p.Hint, Related: append(p.Related, BroughtIn(v.Via())...), Err: p.Err,
	})
}

func (c *Context) silent() bool {
	_, exhausted := c.Budget.Exhausted()
	return exhausted || c.Sink.Closed()
}

// ReportAt is Report for a place that is not the start of v.
func (c *Context) ReportAt(v source.Value, pos diag.Pos, p Problem) {
	if c.silent() || v.Spoilt() {
		return
	}
	c.Sink.Add(diag.Diagnostic{
		Pos: pos, Code: p.Code, Path: c.Path(),
		Message: p.Message, Hint: p.Hint, Related: append(p.Related, BroughtIn(v.Via())...), Err: p.Err,
	})
}

// maxUses is how many `use` of a chain are shown.
const maxUses = 8

// BroughtIn lists a chain of `use` as related positions, the innermost first.
func BroughtIn(via *source.Via) []diag.Related {
	return usesOf(via, "brought in by `use` here")
}

func usesOf(via *source.Via, message string) []diag.Related {
	var related []diag.Related
	for _, use := range via.Uses(maxUses) {
		related = append(related, diag.Related{Pos: use.Pos(), Message: message})
	}
	return related
}
