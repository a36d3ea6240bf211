package manifest

import (
	"encoding/json"
	"errors"
)

var capFields = []field[Cap]{
	{"urn", true, func(r *reader, c *Cap) (err error) { c.URN, err = r.capURN(); return err }},
	{"version", false, numberField(func(c *Cap) *uint64 { return &c.Version })},
	{"title", true, textField(func(c *Cap) *string { return &c.Title })},
	{"aliases", true, func(r *reader, c *Cap) error {
		err := listField(func(c *Cap) *[]string { return &c.Aliases })(r, c)
		if err == nil && len(c.Aliases) == 0 {
			return errNoAlias
		}
		return err
	}},
}

var groupFields = []field[CapGroup]{
	{"name", false, textField(func(g *CapGroup) *string { return &g.Name })},
	{"caps", false, func(r *reader, g *CapGroup) error { return readList(r, &g.Caps, capFields, capExtra) }},
	{"adapter_urns", false, listField(func(g *CapGroup) *[]string { return &g.AdapterURNs })},
}

func capExtra(c *Cap) *map[string]json.RawMessage { return &c.Extra }

// readList reads an array of objects.
func readList[T any](r *reader, list *[]T, fields []field[T], extra func(*T) *map[string]json.RawMessage) error {
	return r.array(func(int) error {
		var v T
		err := readObject(r, &v, fields, extra(&v))
		*list = append(*list, v)
		return err
	})
}

var errEmptyGroup = errors.New("has nothing, neither a name nor caps")

// readGroups reads cap groups. An empty one is refused: it is far larger in memory than in a document.
func readGroups(r *reader, to *[]CapGroup) error {
	return r.array(func(int) error {
		var g CapGroup
		err := readObject(r, &g, groupFields, &g.Extra)
		if err == nil && g.Name == "" && len(g.Caps)+len(g.AdapterURNs) == 0 {
			err = errEmptyGroup
		}
		*to = append(*to, g)
		return err
	})
}
