// Package diag holds what there is to say about a user's file: positions,
// diagnostics, suggestions, and their printing as text and JSON.
//
// A [Diagnostic] is a value, never a formatted string. Code that finds a problem
// adds one to a [List]; the command line prints the list with [WriteText] or
// [WriteJSON]. Nothing here does I/O of its own.
package diag

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A Pos is a place in a file. The zero value means that no place is known.
type Pos struct {
	File   string // as the user can open it
	Line   int    // counts from 1; 0 where only the file is known
	Column int    // counts from 1, in characters (runes), a byte order mark not counted
}

// IsZero reports whether nothing at all is known of the place.
func (p Pos) IsZero() bool { return p == Pos{} }

// String gives file:line:column, or the file alone where the line is not known.
func (p Pos) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// Compare orders by file, then line, then column.
func (p Pos) Compare(q Pos) int {
	return cmp.Or(strings.Compare(p.File, q.File), cmp.Compare(p.Line, q.Line), cmp.Compare(p.Column, q.Column))
}

// Severity tells a finding that stops the work from one that does not.
type Severity uint8

// The zero Severity is Error. A Warning never changes the exit status.
const (
	Error Severity = iota
	Warning
)

// String gives "error" or "warning".
func (s Severity) String() string {
	if s == Warning {
		return "warning"
	}
	return "error"
}

// A Related is another place the reader has to see, and why.
type Related struct {
	Pos     Pos
	Message string
}

// A Diagnostic is one finding about a topology file.
type Diagnostic struct {
	Pos, End Pos       // half-open range; End is zero where only the start is known
	Severity Severity  // the zero value is Error
	Code     string    // stable, for machines: unknown-field
	Path     string    // place in the model, such as machines[0].devices[1].kind; may be empty
	Message  string    // one line, lower case, no full stop
	Hint     string    // what to write instead; may be empty
	Related  []Related // other places, in the order to be read
	Err      error     // sentinel for errors.Is; may be nil
}

// Error gives the position and the message on one line.
func (d Diagnostic) Error() string {
	if d.Pos.IsZero() {
		return d.Message
	}
	return d.Pos.String() + ": " + d.Message
}

// Unwrap gives Err, so that errors.Is finds the sentinel.
func (d Diagnostic) Unwrap() error { return d.Err }

// A List is what one run found. Its zero value is empty and ready to use.
type List []Diagnostic

// HasErrors reports whether the list holds more than warnings.
func (l List) HasErrors() bool {
	return slices.ContainsFunc(l, func(d Diagnostic) bool { return d.Severity == Error })
}

// Err returns the list as an error, or nil where it holds no error.
func (l List) Err() error {
	if !l.HasErrors() {
		return nil
	}
	return listError{l}
}

// Sorted returns the list ordered by file, line and column, and each finding that
// is written twice (same place, code and message) once. The receiver is not changed.
func (l List) Sorted() List {
	s := slices.Clone(l)
	slices.SortStableFunc(s, func(a, b Diagnostic) int {
		return cmp.Or(a.Pos.Compare(b.Pos), strings.Compare(a.Code, b.Code), strings.Compare(a.Message, b.Message))
	})
	return slices.CompactFunc(s, func(a, b Diagnostic) bool {
		return a.Pos == b.Pos && a.Code == b.Code && a.Message == b.Message
	})
}

type listError struct{ list List }

func (e listError) Error() string {
	var first string
	n := 0
	for _, d := range e.list {
		if d.Severity == Error {
			if n == 0 {
				first = d.Error()
			}
			n++
		}
	}
	if n == 1 {
		return first
	}
	return fmt.Sprintf("%s (and %d more)", first, n-1)
}

func (e listError) Unwrap() []error {
	errs := make([]error, len(e.list))
	for i, d := range e.list {
		errs[i] = d
	}
	return errs
}
