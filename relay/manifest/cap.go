package manifest

import (
	"encoding/json"
	"errors"

	"github.com/cosim-go/cosim/relay/caps"
)

// A Cap is a capability as a manifest describes it.
type Cap struct {
	URN     *caps.Cap // not nil
	Version uint64    // of the description; 0 when it has none
	Title   string    // for people
	Aliases []string  // short names; at least one
	Extra   map[string]json.RawMessage
}

// NewCap returns a cap with a title, which is its one alias too. It fails for a text that is no cap URN,
// with an error of package caps, and without a title.
func NewCap(urn, title string) (Cap, error) {
	c, err := caps.Parse(urn)
	switch {
	case err != nil:
		return Cap{}, err
	case title == "":
		return Cap{}, errors.New("cap " + c.String() + " has no title")
	}
	return Cap{URN: c, Title: title, Aliases: []string{title}}, nil
}

// A CapGroup is some caps that belong together.
type CapGroup struct {
	Name        string
	Caps        []Cap
	AdapterURNs []string // media URNs that the group can look into; kept as they are written
	Extra       map[string]json.RawMessage
}

func (c Cap) append(dst []byte) []byte {
	o := newObject(dst)
	o.text("urn", c.URN.String())
	o.number("version", c.Version)
	o.text("title", c.Title)
	o.texts("aliases", c.Aliases)
	o.extra(c.Extra)
	return o.end()
}

func (g CapGroup) append(dst []byte) []byte {
	o := newObject(dst)
	o.text("name", g.Name)
	o.key("caps")
	o.dst = appendArray(o.dst, g.Caps, func(dst []byte, c Cap) []byte { return c.append(dst) })
	o.texts("adapter_urns", g.AdapterURNs)
	o.extra(g.Extra)
	return o.end()
}

func appendGroups(dst []byte, groups []CapGroup) []byte {
	return appendArray(dst, groups, func(dst []byte, g CapGroup) []byte { return g.append(dst) })
}
