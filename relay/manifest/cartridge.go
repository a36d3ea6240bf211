package manifest

import (
	"encoding/json"

	"github.com/cosim-go/cosim/relay/caps"
)

// A Cartridge is what a cartridge says of itself in its HELLO.
type Cartridge struct {
	Name        string
	Version     string
	Channel     string // "" is ChannelRelease
	Registry    string // where it was published; "" without HasRegistry
	HasRegistry bool   // false for what was built locally
	Description string
	Groups      []CapGroup
	Pools       PoolDeclarations
	Extra       map[string]json.RawMessage
}

// Install returns the identity of the cartridge, without a hash.
func (c *Cartridge) Install() Install {
	return Install{
		Registry: c.Registry, HasRegistry: c.HasRegistry,
		Channel: orRelease(c.Channel), ID: c.Name, Version: c.Version,
	}
}

// Caps returns the caps of the groups, each canonical text once, in the place where it came first.
func (c *Cartridge) Caps() []*caps.Cap { return capSet(nil, []Record{{Groups: c.Groups}}) }

// AppendJSON appends the manifest, complete also where reading is lenient.
func (c *Cartridge) AppendJSON(dst []byte) []byte {
	i := c.Install()
	o := newObject(dst)
	o.text("name", c.Name)
	o.text("version", c.Version)
	o.text("channel", i.Channel)
	o.nullable("registry_url", c.Registry, c.HasRegistry)
	o.text("description", c.Description)
	o.key("cap_groups")
	o.dst = appendGroups(o.dst, c.Groups)
	o.key("pool_declarations")
	o.dst = c.Pools.append(o.dst)
	o.extra(c.Extra)
	return o.end()
}
