package host

import (
	"github.com/cosim-go/cosim/relay/caps"
)

// find returns the cartridge that serves a cap best, nil when none does.
func (h *Host) find(cap []byte) *cartridge {
	if h.index == nil {
		h.rebuild()
	}
	place, ok := h.index.FindBytes(cap, "")
	if !ok {
		return nil
	}
	return h.owners[place]
}

// rebuild lists the caps of all cartridges that can be asked for, in the order of registration.
func (h *Host) rebuild() {
	h.table, h.owners = nil, nil
	for _, c := range h.cartridges {
		if !c.routable() {
			continue
		}
		for _, cap := range capsOf(c.groups) {
			h.table = append(h.table, cap)
			h.owners = append(h.owners, c)
		}
	}
	h.index = caps.NewIndex(h.table)
}

// findByID returns the cartridge with an id, one that can be asked for before one that failed; nil when there is none.
func (h *Host) findByID(id string) (found *cartridge) {
	for _, c := range h.cartridges {
		if c.install.ID != id || c.removed {
			continue
		}
		if c.failure == nil {
			return c
		}
		if found == nil {
			found = c
		}
	}
	return found
}

// Caps returns the caps that can be asked for, in canonical form, in the order in which cartridges were registered.
func (h *Host) Caps() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.index == nil {
		h.rebuild()
	}
	var all []string
	seen := map[string]bool{}
	for _, c := range h.table {
		if text := c.String(); !seen[text] {
			seen[text] = true
			all = append(all, text)
		}
	}
	return all
}
