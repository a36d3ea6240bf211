package manifest

import (
	"errors"
	"fmt"

	"github.com/cosim-go/cosim/relay/caps"
)

var cartridgeFields = []field[Cartridge]{
	{"name", true, textField(func(c *Cartridge) *string { return &c.Name })},
	{"version", true, textField(func(c *Cartridge) *string { return &c.Version })},
	{"channel", false, channelField(func(c *Cartridge) *string { return &c.Channel })},
	{"registry_url", false, func(r *reader, c *Cartridge) error { return readRegistry(r, &c.Registry, &c.HasRegistry) }},
	{"description", false, textField(func(c *Cartridge) *string { return &c.Description })},
	{"cap_groups", true, func(r *reader, c *Cartridge) error { return readGroups(r, &c.Groups) }},
	{"pool_declarations", false, func(r *reader, c *Cartridge) error {
		return readObject(r, &c.Pools, declarationFields, nil)
	}},
}

// ParseCartridge reads what a cartridge says of itself, and checks it as [Cartridge.Check] does. Channel,
// registry and description may be missing. The error is a [*Fault].
func ParseCartridge(data []byte) (*Cartridge, error) {
	c := new(Cartridge)
	r := newReader()
	err := r.document(data, func() error { return readObject(r, c, cartridgeFields, &c.Extra) })
	if err != nil {
		return nil, &Fault{ManifestInvalid, describe("manifest", err)}
	}
	c.Channel = c.Install().Channel
	if err := c.Check(); err != nil {
		return nil, err
	}
	c.Pools, _ = c.declarations()
	return c, nil
}

// Check fails with a [*Fault]: of kind ManifestInvalid when a cap is not complete or the declarations of the
// pools are wrong, of kind Incompatible when no cap accepts [caps.Identity].
func (c *Cartridge) Check() error {
	if err := c.checkCaps(); err != nil {
		return &Fault{ManifestInvalid, describe("manifest", err)}
	}
	if _, err := c.declarations(); err != nil {
		return &Fault{ManifestInvalid, describe("manifest", within(".pool_declarations", err))}
	}
	if !caps.HasIdentity(c.Caps()) {
		return &Fault{Incompatible, "manifest: no cap accepts " + caps.Identity}
	}
	return nil
}

// checkCaps looks for what only a manifest that was not read can lack.
func (c *Cartridge) checkCaps() error {
	for i, g := range c.Groups {
		for j, d := range g.Caps {
			path := fmt.Sprintf(".cap_groups[%d].caps[%d]", i, j)
			switch {
			case d.URN == nil:
				return within(path+".urn", errMissing)
			case len(d.Aliases) == 0:
				return within(path+".aliases", errNoAlias)
			}
		}
	}
	return nil
}

var errNoAlias = errors.New("is empty, want one alias or more")

// declarations returns what the manifest declares of pools, with canonical URNs.
func (c *Cartridge) declarations() (PoolDeclarations, error) {
	declared := map[string]bool{}
	for _, d := range c.Caps() {
		declared[d.String()] = true
	}
	return c.Pools.canonical(declared)
}

// InitialPools returns the pools of a cartridge that has just started: one for every cap, the declared ones, and
// [PoolAll], with the bounds that the manifest declares. The manifest has to pass Check.
func (c *Cartridge) InitialPools() Pools {
	d, err := c.declarations()
	if err != nil {
		panic("manifest: pools of a manifest that is not good: " + err.Error())
	}
	p := PoolsFromCapacity(d.Capacities[PoolAll], c.Caps())
	for name, members := range d.Pools {
		p[name] = PoolState{Caps: members}
	}
	for name, n := range d.Capacities {
		s := p[name]
		s.Declared, s.Configured = n, n
		p[name] = s
	}
	return p
}
