package decode

import (
	"fmt"
	"slices"

	"github.com/cosim-go/cosim/topology/internal/source"
	"github.com/cosim-go/cosim/topology/schema"
)

// maxFields is the number of fields that the largest section has.
const maxFields = 16

// A Record is a section as read: its known fields that are not null.
type Record struct {
	At    source.Value // the mapping, or the scalar of a short form
	Meant []string     // the fields that were probably meant by unknown ones

	n       int
	entries [maxFields]source.Entry
}

// Get gives the value of a field, which is absent if the field is.
func (r *Record) Get(name string) source.Value {
	for i := range r.n {
		if r.entries[i].Name == name {
			return r.entries[i].Value
		}
	}
	return source.Value{}
}

// Entry gives a field with its key.
func (r *Record) Entry(name string) (source.Entry, bool) {
	for i := range r.n {
		if r.entries[i].Name == name {
			return r.entries[i], true
		}
	}
	return source.Entry{}, false
}

// Has reports whether a field is there.
func (r *Record) Has(name string) bool { return r.Get(name).Present() }

// Names lists the fields that are there, in order of the document.
func (r *Record) Names() []string {
	names := make([]string, r.n)
	for i := range r.n {
		names[i] = r.entries[i].Name
	}
	return names
}

// Section reads a mapping, or its short form, as a section: unknown and missing fields
// are reported. It is not ok where v is neither, or where a required field is missing.
// The record is good until it is given back with [Context.Done].
func (c *Context) Section(v source.Value, s *schema.Section) (r *Record, ok bool) {
	r = c.record()
	r.At = v
	if !v.IsMapping() {
		return r, c.short(v, s, r)
	}
	for it := v.Entries(); it.Next(); {
		switch {
		case s.Index(it.Name) < 0:
			c.unknownField(it.Entry, s, r)
		case it.Value.IsNull() || r.Has(it.Name):
			// A null counts as absent, a second key has been reported.
		default:
			r.entries[r.n] = it.Entry
			r.n++
		}
	}
	return r, c.required(s, r)
}

func (c *Context) record() *Record {
	if n := len(c.records); n > 0 {
		r := c.records[n-1]
		c.records = c.records[:n-1]
		return r
	}
	return &Record{}
}

// Done gives a record back.
func (c *Context) Done(r *Record) {
	r.At, r.Meant, r.n = source.Value{}, nil, 0
	c.records = append(c.records, r)
}

func (c *Context) short(v source.Value, s *schema.Section, r *Record) bool {
	if s.Short == nil || !v.IsScalar() || v.IsNull() {
		want := "mapping"
		if s.Short != nil {
			want = s.Short.Field + " or a mapping"
		}
		c.WrongType(v, want)
		return false
	}
	r.entries[0], r.n = source.Scalar(s.Short.Field, v), 1
	return true
}

func (c *Context) required(s *schema.Section, r *Record) bool {
	ok := true
	for i := range s.Fields {
		if f := &s.Fields[i]; f.Required && !r.Has(f.Name) {
			ok = false
			if !slices.Contains(r.Meant, f.Name) {
				c.missing(r.At, s.Name, f.Name, nullHint(r.At, f.Name))
			}
		}
	}
	return ok
}

// Missing reports that a mapping lacks a field.
func (c *Context) Missing(at source.Value, section, field string) {
	c.missing(at, section, field, "")
}

func (c *Context) missing(at source.Value, section, field, hint string) {
	c.Lacks(at, Problem{
		Code:    schema.MissingField,
		Message: fmt.Sprintf("missing field %q in %s", field, section),
		Hint:    hint,
	})
}

// nullHint tells the writer of a null that it is one.
func nullHint(at source.Value, field string) string {
	e, ok := at.Get(field)
	if !ok || !e.Value.IsNull() || e.Value.Text() == "" {
		return ""
	}
	return fmt.Sprintf("YAML reads %s as null; a text has to be in quotes: %q", e.Value.Text(), e.Value.Text())
}

// Lacks reports that a mapping does not have something, unless what it has is not
// known for certain.
func (c *Context) Lacks(at source.Value, p Problem) {
	if c.Uncertain(at) {
		return
	}
	if o := at.Object(); o != nil && o.Via != nil {
		p.Related = append(p.Related, usesOf(o.Via, "`use` is here")...)
	}
	c.ReportAt(at, at.Pos(), p)
}

// Uncertain reports whether a mapping may have more fields than are seen: it uses a
// template that could not be found, or is one that nobody uses.
func (c *Context) Uncertain(at source.Value) bool {
	o := at.Object()
	return c.Partial || o != nil && o.Incomplete
}

func (c *Context) unknownField(e source.Entry, s *schema.Section, r *Record) {
	meant := c.Closest(e.Name, s.Names())
	p := Problem{
		Code:    schema.UnknownField,
		Message: fmt.Sprintf("unknown field %q in %s", e.Name, s.Name),
		Hint:    hint(meant, s.Names(), "fields"),
	}
	if meant != "" {
		r.Meant = append(r.Meant, meant)
	} else if owner := ownerOf(e.Name, s); owner != "" {
		p.Hint = fmt.Sprintf("%q is a field of %s", e.Name, owner)
	}
	c.Report(e.Key(), p)
}

// ownerOf finds a section that has a field of this name.
func ownerOf(name string, not *schema.Section) string {
	for _, s := range schema.Sections {
		if s != not && s.Index(name) >= 0 {
			return s.Name
		}
	}
	return ""
}
