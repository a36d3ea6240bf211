package manifest

import (
	"encoding/json"

	"github.com/cosim-go/cosim/relay/caps"
	"github.com/cosim-go/cosim/relay/frame"
)

// An Inventory is what a host announces: its caps and the cartridges behind them.
type Inventory struct {
	// Caps are what can be asked of the host: those that are announced by themselves, then those of the
	// records without an attachment error, each canonical text once, in the place where it came first.
	Caps []*caps.Cap

	Records   []Record
	HostStats json.RawMessage // the host's own counters, not looked at; nil when it tells none
}

// NewInventory returns the inventory of a host with those records, in the order in which its cartridges
// were registered. Records with an attachment error lose their caps; the slice itself is not changed.
func NewInventory(records []Record, hostStats json.RawMessage) *Inventory {
	v := &Inventory{Records: make([]Record, len(records)), HostStats: hostStats}
	copy(v.Records, records)
	for i := range v.Records {
		if v.Records[i].AttachmentError != nil {
			v.Records[i].Groups = nil
		}
	}
	v.Caps = capSet(nil, v.Records)
	return v
}

// capSet joins caps that are announced by themselves with those of the records that offer any.
func capSet(flat []*caps.Cap, records []Record) []*caps.Cap {
	var set []*caps.Cap
	seen := map[string]bool{}
	add := func(c *caps.Cap) {
		if text := c.String(); !seen[text] {
			seen[text] = true
			set = append(set, c)
		}
	}
	for _, c := range flat {
		add(c)
	}
	for i := range records {
		if records[i].AttachmentError == nil {
			for c := range records[i].Caps() {
				add(c.URN)
			}
		}
	}
	return set
}

// Check fails with [frame.ErrProtocol] when no cap of the set accepts [caps.Identity], which every host
// has to announce. An inventory without caps passes when allowEmpty is set: that of a host whose
// cartridges have all died.
func (v *Inventory) Check(allowEmpty bool) error {
	switch {
	case len(v.Caps) == 0 && allowEmpty, caps.HasIdentity(v.Caps):
		return nil
	case len(v.Caps) == 0:
		return frame.Errorf(frame.ErrProtocol, "the host announces no caps, not even %s", caps.Identity)
	}
	return frame.Errorf(frame.ErrProtocol, "the host announces %d caps, and none that accepts %s", len(v.Caps), caps.Identity)
}

// AppendJSON appends the inventory as a host announces it: with its caps, and with all that is known of
// its records.
func (v *Inventory) AppendJSON(dst []byte) []byte {
	o := newObject(dst)
	o.key("caps")
	o.dst = appendArray(o.dst, v.Caps, func(dst []byte, c *caps.Cap) []byte { return appendString(dst, c.String()) })
	o.key("installed_cartridges")
	o.dst = append(o.dst, '[')
	for i := range v.Records {
		if i > 0 {
			o.dst = append(o.dst, ',')
		}
		o.dst = v.Records[i].append(o.dst)
	}
	o.dst = append(o.dst, ']')
	if len(v.HostStats) > 0 {
		o.key("host_protocol_stats")
		o.dst = append(o.dst, v.HostStats...)
	}
	return o.end()
}
