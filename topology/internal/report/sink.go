// Package report gathers the diagnostics of one step, each once.
package report

import (
	"fmt"

	"github.com/cosim-go/cosim/topology/diag"
	"github.com/cosim-go/cosim/topology/schema"
)

// maxProblems bounds the memory that a hostile document can take by being wrong in
// every line. It is far above what anyone reads.
const maxProblems = 100_000

// A Sink gathers diagnostics. A problem that is written once is kept once, however
// often it is met: what counts is its place, code and message. The zero value is ready
// to use.
type Sink struct {
	list   diag.List
	seen   map[key]struct{}
	closed bool
}

type key struct {
	pos           diag.Pos
	code, message string
}

// Add keeps a diagnostic, unless it is known already.
func (s *Sink) Add(d diag.Diagnostic) {
	k := key{d.Pos, d.Code, d.Message}
	if _, known := s.seen[k]; known || s.closed {
		return
	}
	if s.seen == nil {
		s.seen = make(map[key]struct{})
	}
	s.seen[k] = struct{}{}
	s.list = append(s.list, d)
	if len(s.list) == maxProblems {
		s.list = append(s.list, diag.Diagnostic{
			Pos:     diag.Pos{File: d.Pos.File},
			Code:    schema.TooMany,
			Message: fmt.Sprintf("more than %d problems; the others are left out", maxProblems),
		})
		s.closed = true
	}
}

// Close makes the sink ignore what is added from now on: whatever follows is a
// consequence of what was reported.
func (s *Sink) Close() { s.closed = true }

// Closed reports whether the sink ignores what is added.
func (s *Sink) Closed() bool { return s.closed }

// Len is the number of diagnostics kept.
func (s *Sink) Len() int { return len(s.list) }

// HasErrors reports whether the sink holds more than warnings.
func (s *Sink) HasErrors() bool { return s.list.HasErrors() }

// List gives what was gathered, sorted.
func (s *Sink) List() diag.List { return s.list.Sorted() }
