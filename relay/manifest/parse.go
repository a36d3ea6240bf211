package manifest

import "github.com/cosim-go/cosim/relay/frame"

// ParseInventory reads what a host announces. It fails with [frame.ErrProtocol], naming the record and
// the member at fault; it does not ask for identity, which [Inventory.Check] does.
func ParseInventory(data []byte) (*Inventory, error) {
	v, _, err := new(Follower).Read(data)
	return v, err
}

// A Follower reads the inventories that one host announces one after the other. What did not change since
// the last one is not read again, and is the same memory in both. The zero value is ready. It is not safe
// for concurrent use.
type Follower struct{}

// A Change is what differs between two inventories of a host. The first one differs from nothing in all.
type Change struct {
	Caps       bool // the cap set
	Cartridges bool // the records, in more than their figures and pools
	Pools      bool // bounds or members of pools, or whether a cartridge runs
}

// Read reads the next inventory, and says what is new in it. It fails as [ParseInventory] does; the
// last good one is remembered then.
func (f *Follower) Read(data []byte) (*Inventory, Change, error) {
	return nil, Change{}, frame.Errorf(frame.ErrProtocol, "not read")
}

// ParsePools reads a pool map. The names of caps' own pools and the members become canonical. It fails with
// [frame.ErrProtocol].
func ParsePools(data []byte) (Pools, error) {
	return nil, frame.Errorf(frame.ErrProtocol, "not read")
}

// ParseCapacities reads numbers by pool, such as an operator wants them: {"all": 4}. Names are as they were
// written. It fails with [frame.ErrProtocol].
func ParseCapacities(data []byte) (map[string]uint64, error) {
	return nil, frame.Errorf(frame.ErrProtocol, "not read")
}

// ParseCartridge reads what a cartridge says of itself. The error is a [*Fault].
func ParseCartridge(data []byte) (*Cartridge, error) { return nil, &Fault{ManifestInvalid, "not read"} }

// Check fails with a [*Fault]: ManifestInvalid where the manifest contradicts itself, Incompatible when no cap
// accepts [caps.Identity].
func (c *Cartridge) Check() error { return nil }

// InitialPools returns the pools of a cartridge that has just started, for which Check must have passed.
func (c *Cartridge) InitialPools() Pools { return nil }

// Offer is how requests for the caps of one install are let in.
type Offer struct {
	Install Install
	Pools   Pools // nil is no bound
}

// AdmissionPools returns the pools through which a switch lets in requests: nil when the host tells no
// figures, which is no bound; those it tells of a cartridge that runs; and of one that does not run its own with a
// bound of one request for all, which shows that it starts.
func (r *Record) AdmissionPools() Pools { return nil }

// Offers returns the installs that offer caps, each once, in the order of their first records.
func (v *Inventory) Offers() []Offer { return nil }

// Owners returns which install offers a cap, by the cap's canonical text. A cap that several installs offer is there
// with all of them.
func (v *Inventory) Owners() map[string][]Install { return nil }
