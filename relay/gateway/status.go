package gateway

import (
	"encoding/json"
	"fmt"

	"github.com/cosim-go/cosim/relay/caps"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/manifest"
	"github.com/cosim-go/cosim/relay/route"
	"github.com/cosim-go/cosim/relay/stats"
)

// StatusCap is the cap that a gateway serves itself: how its switch is. Its output is a [Status] as JSON. A request
// of a caller that names it in just this way goes to no host.
const StatusCap = "cap:in=media:void;out=media:json;relay-status"

const statusMedia = "media:json"

// A Status is how a switch is, and what it carries.
type Status struct {
	Version      int                  `json:"version"`   // of this form: 1
	Ready        bool                 `json:"ready"`     // as many hosts are there as are expected, each of them healthy
	Callers      int                  `json:"callers"`   // connections that are no hosts'
	Masters      []route.MasterHealth `json:"masters"`   // in the order of their indices
	Limits       Limits               `json:"limits"`    // what all healthy hosts can take
	Capabilities []string             `json:"caps"`      // that can be asked for now
	Inventory    *manifest.Inventory  `json:"inventory"` // all cartridges of all hosts, also those that cannot be asked for anything
	Protocol     stats.Switch         `json:"protocol_stats"`
}

// Limits are [frame.Limits] with the names of the protocol.
type Limits struct {
	MaxFrame         uint64 `json:"max_frame"`
	MaxChunk         uint64 `json:"max_chunk"`
	MaxReorderBuffer uint64 `json:"max_reorder_buffer"`
	InitialCredit    uint64 `json:"initial_credit"`
}

// MarshalJSON writes the inventory as a host would announce it.
func (s Status) MarshalJSON() ([]byte, error) {
	type plain Status
	inventory := s.Inventory
	if inventory == nil {
		inventory = &manifest.Inventory{}
	}
	if s.Masters == nil {
		s.Masters = []route.MasterHealth{}
	}
	if s.Capabilities == nil {
		s.Capabilities = []string{}
	}
	return json.Marshal(struct {
		plain
		Inventory json.RawMessage `json:"inventory"`
	}{plain(s), inventory.AppendJSON(nil)})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (s *Status) UnmarshalJSON(data []byte) error {
	type plain Status
	var read struct {
		plain
		Inventory json.RawMessage `json:"inventory"`
	}
	if err := json.Unmarshal(data, &read); err != nil {
		return err
	}
	*s = Status(read.plain)
	s.Inventory = nil
	if read.Inventory == nil {
		return nil
	}
	var err error
	s.Inventory, err = manifest.ParseInventory(read.Inventory)
	return err
}

// isStatus reports whether a REQ is for [StatusCap].
func isStatus(f *frame.Frame) bool {
	if string(f.Cap) == StatusCap {
		return true
	}
	if len(f.Cap) < len("cap:relay-status") || len(f.Cap) > 4*len(StatusCap) {
		return false
	}
	c, err := caps.Parse(string(f.Cap))
	return err == nil && c.String() == canonicalStatus
}

// canonicalStatus is StatusCap as caps are compared.
var canonicalStatus = func() string {
	c, err := caps.Parse(StatusCap)
	if err != nil {
		panic(fmt.Sprintf("gateway: the status cap is none: %v", err))
	}
	return c.String()
}()
