package source

import (
	"gopkg.in/yaml.v3"

	"github.com/cosim-go/cosim/topology/diag"
)

// An Entry is one key of a mapping with its value. The key stands in the same file as
// the value, and came the same way.
type Entry struct {
	Name  string // text of the key
	Value Value
	key   *yaml.Node
}

// Scalar is the entry that the short form v of a section stands for.
func Scalar(name string, v Value) Entry {
	return Entry{Name: name, Value: v, key: v.node}
}

// Key is the key as a value of its own.
func (e Entry) Key() Value {
	return Value{file: e.Value.file, node: resolved(e.key), via: e.Value.via}
}

// Pos is where the key starts.
func (e Entry) Pos() diag.Pos { return e.Value.file.position(e.key.Line, e.key.Column) }

// An Object is the content of a mapping that a template was merged into.
type Object struct {
	Entries    []Entry
	Via        *Via // the `use` that was merged in
	Incomplete bool // a template could not be found, so that there may be more
}

// Size is the number of entries, with those of merged mappings in it.
func (o *Object) Size() int {
	n := len(o.Entries)
	for _, e := range o.Entries {
		if e.Value.object != nil {
			n += e.Value.object.Size()
		}
	}
	return n
}

// Merged is a mapping with the content of o that stands where v does.
func Merged(v Value, o *Object) Value {
	v.object = o
	return v
}

// Object gives the merged content of a mapping, and nil for one that is as written.
func (v Value) Object() *Object { return v.object }

// Brought gives the entries of a template as they look through the `use` that merges
// them in, with room for more.
func Brought(entries []Entry, by *Via, more int) []Entry {
	brought := make([]Entry, len(entries), len(entries)+more)
	var last, joined *Via // most entries came the same way
	for i, e := range entries {
		if joined == nil || e.Value.via != last {
			last, joined = e.Value.via, e.Value.via.Then(by)
		}
		e.Value.via, e.Value.shared = joined, true
		if o := e.Value.object; o != nil {
			e.Value.object = &Object{Entries: Brought(o.Entries, by, 0), Via: o.Via.Then(by), Incomplete: o.Incomplete}
		}
		brought[i] = e
	}
	return brought
}

// An Iterator goes through the entries of a mapping.
type Iterator struct {
	Entry
	of   Value
	list []Entry // of a mapping that is not as written
	next int
}

// Entries starts to go through the keys and values of a mapping in order, those of merge
// keys `<<` where the merge key stands. Keys that are no scalars are left out: they have
// been reported. There is nothing in values that are no mappings, nor once the budget of
// the load has run out.
func (v Value) Entries() Iterator {
	it := Iterator{of: v}
	switch {
	case !v.IsMapping() || v.shared && !v.file.budget.Spend(v.Len(), v):
		it.of = Value{}
	case v.object != nil:
		it.list, it.of = v.object.Entries, Value{}
	case hasMerge(v.node):
		it.list, it.of = v.flatten(nil), Value{}
	}
	return it
}

// Len is the number of entries that there are at most.
func (it *Iterator) Len() int { return max(len(it.list), it.of.Len()) }

// Next goes to the next entry, and reports whether there is one.
func (it *Iterator) Next() bool {
	if it.of.node == nil {
		if it.next == len(it.list) {
			return false
		}
		it.Entry = it.list[it.next]
		it.next++
		return true
	}
	for content := it.of.node.Content; it.next+1 < len(content); {
		e, ok := it.of.entry(it.next)
		if it.next += 2; ok {
			it.Entry = e
			return true
		}
	}
	return false
}

func (v Value) entry(i int) (Entry, bool) {
	key := resolved(v.node.Content[i])
	if key.Kind != yaml.ScalarNode {
		return Entry{}, false
	}
	return Entry{
		Name:  key.Value,
		key:   v.node.Content[i],
		Value: v.file.value(v.node.Content[i+1], v.via, v.shared),
	}, true
}

// Get finds an entry by its name.
func (v Value) Get(name string) (Entry, bool) {
	for it := v.Entries(); it.Next(); {
		if it.Name == name {
			return it.Entry, true
		}
	}
	return Entry{}, false
}

// Len is the number of entries of a mapping, merge keys not followed, or of items of a
// sequence.
func (v Value) Len() int {
	switch {
	case v.object != nil:
		return len(v.object.Entries)
	case v.IsMapping():
		return len(v.node.Content) / 2
	case v.IsSequence():
		return len(v.node.Content)
	}
	return 0
}

// Items is the number of items of a sequence, and takes them from the budget of the
// load: it is 0 once that has run out.
func (v Value) Items() int {
	if !v.IsSequence() || v.shared && !v.file.budget.Spend(len(v.node.Content), v) {
		return 0
	}
	return len(v.node.Content)
}

// Item is an item of a sequence, from 0.
func (v Value) Item(i int) Value { return v.file.value(v.node.Content[i], v.via, v.shared) }
