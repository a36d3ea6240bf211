package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"

	"github.com/cosim-go/cosim/relay/caps"
)

// ParseInventory reads what a host announces. It fails with [frame.ErrProtocol], naming the record and the
// member at fault. It does not ask for identity, which [Inventory.Check] does.
func ParseInventory(data []byte) (*Inventory, error) {
	v, _, err := new(Follower).Read(data)
	return v, err
}

// A Follower reads the inventories that one host announces one after the other. What has the same text as in
// the last one is not read again, and both inventories share it: nobody may write to it. The zero value
// is ready. It keeps a copy of the newest text, and is not safe for concurrent use.
type Follower struct {
	inventory *Inventory
	text      []byte
	flat      span // of the caps that are announced by themselves
	flatCaps  []*caps.Cap
	records   []parts
	reader    *reader
}

// A Change is what differs between an inventory and the one before it. Figures that went up or down are no
// change.
type Change struct {
	Caps      bool // the cap set
	Admission bool // what Offers and Owners return
}

// Read reads the next inventory, and says how it differs from the one before; the first one differs from
// an inventory without anything. It does not keep data. When it fails, as ParseInventory does, the next
// one is compared with the last that was good.
func (f *Follower) Read(data []byte) (*Inventory, Change, error) {
	if f.inventory != nil && bytes.Equal(data, f.text) {
		return f.inventory, Change{}, nil
	}
	next := Follower{inventory: &Inventory{}, reader: f.reader}
	if next.reader == nil {
		next.reader = newReader()
	}
	r := next.reader
	r.old = f.text
	err := r.document(data, func() error { return next.read(f) })
	r.data, r.old, r.before, r.now = nil, nil, parts{}, parts{}
	r.forget(len(data))
	if err != nil {
		f.reader = r
		return nil, Change{}, refused("inventory", err)
	}
	change := next.compare(f)
	next.text = append(f.text[:0], data...)
	*f = next
	return f.inventory, change, nil
}

// forget lets go of the caps of earlier documents when they outweigh one of n bytes.
func (r *reader) forget(n int) {
	if r.size > 2*n {
		clear(r.urns)
		r.size = 0
	}
}

var errNothing = errors.New(`has neither "caps" nor "installed_cartridges"`)

func (f *Follower) read(old *Follower) error {
	some := false
	err := readObject(f.reader, f, []field[Follower]{
		{"caps", false, func(r *reader, f *Follower) error { some = true; return f.readFlat(old) }},
		{"installed_cartridges", false, func(r *reader, f *Follower) error { some = true; return f.readRecords(old) }},
		{"host_protocol_stats", false, func(r *reader, f *Follower) error {
			text, err := r.value()
			f.inventory.HostStats = json.RawMessage(bytes.Clone(text))
			return err
		}},
	}, nil)
	if err == nil && !some {
		return errNothing
	}
	return err
}

func (f *Follower) readFlat(old *Follower) (err error) {
	r := f.reader
	r.space()
	start := r.pos
	if r.same(old.flat) {
		f.flatCaps = old.flatCaps
	} else if f.flatCaps, err = r.capList(); err != nil {
		return err
	}
	f.flat = span{start, r.pos}
	return nil
}

func (f *Follower) readRecords(old *Follower) error {
	r := f.reader
	return r.array(func(i int) error {
		r.before, r.now = parts{}, parts{}
		if i < len(old.records) {
			r.before = old.records[i]
		}
		v, err := readRecord(r)
		f.inventory.Records = append(f.inventory.Records, v)
		f.records = append(f.records, r.now)
		return err
	})
}

// compare completes an inventory with its cap set, and says how it differs from the one before.
func (f *Follower) compare(old *Follower) Change {
	if old.inventory == nil {
		old = &Follower{inventory: &Inventory{}}
	}
	var c Change
	if f.sharesCaps(old) {
		f.inventory.Caps = old.inventory.Caps
	} else if f.inventory.Caps = capSet(f.flatCaps, f.inventory.Records); slices.EqualFunc(f.inventory.Caps, old.inventory.Caps, sameCap) {
		f.inventory.Caps = old.inventory.Caps
	} else {
		c.Caps = true
	}
	c.Admission = c.Caps || !f.sameAdmission(old)
	return c
}

// sharesCaps reports whether all caps were taken over, so that the cap sets are the same without a look at them.
func (f *Follower) sharesCaps(old *Follower) bool {
	return sameMemory(f.flatCaps, old.flatCaps) && slices.EqualFunc(f.inventory.Records, old.inventory.Records, func(a, b Record) bool {
		return sameMemory(a.Groups, b.Groups) && (a.AttachmentError == nil) == (b.AttachmentError == nil)
	})
}

func (f *Follower) sameAdmission(old *Follower) bool {
	if len(f.records) != len(old.records) {
		return false
	}
	for i := range f.records {
		if !sameAdmission(&f.inventory.Records[i], &old.inventory.Records[i], f.records[i].same) {
			return false
		}
	}
	return true
}
