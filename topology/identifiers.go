package topology

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cosim-go/cosim/topology/diag"
	"github.com/cosim-go/cosim/topology/internal/decode"
	"github.com/cosim-go/cosim/topology/internal/source"
	"github.com/cosim-go/cosim/topology/schema"
)

// A nameSet finds identifiers that clash: equal, or different in ASCII case alone.
type nameSet struct {
	byLower map[string]named
}

type named struct {
	name string
	at   source.Value
}

func (s *nameSet) clear() {
	if s.byLower == nil {
		s.byLower = make(map[string]named)
	}
	clear(s.byLower)
}

// add takes a name in, unless it clashes with an earlier one, which it then gives.
func (s *nameSet) add(name string, at source.Value) (earlier named, clash bool) {
	lower := strings.ToLower(name) // identifiers are ASCII
	if earlier, clash = s.byLower[lower]; !clash {
		s.byLower[lower] = named{name, at}
	}
	return earlier, clash
}

// clash reports that an identifier clashes with an earlier one.
func (d *decoder) clash(what, name string, at source.Value, earlier named) {
	p := decode.Problem{
		Code:    schema.DuplicateID,
		Message: fmt.Sprintf("%s %q is declared twice", what, name),
		Related: []diag.Related{{Pos: earlier.at.Pos(), Message: fmt.Sprintf("%q is declared here", earlier.name)}},
	}
	if name != earlier.name {
		p.Code = schema.CaseClash
		p.Message = fmt.Sprintf("%s %q differs from %q in case alone", what, name, earlier.name)
	}
	d.Report(at, p)
}

// usable checks the length of an identifier that was made of a stem and a number, and
// that it is not reserved.
func (d *decoder) usable(what, name string, at source.Value, reserved []string) bool {
	if len(name) > schema.MaxIdentifier {
		d.Report(at, decode.Problem{
			Code:    schema.BadIdentifier,
			Message: fmt.Sprintf("%s %q has %d characters, and %d are the most", what, name, len(name), schema.MaxIdentifier),
			Hint:    "give it a shorter id",
		})
		return false
	}
	if slices.ContainsFunc(reserved, func(r string) bool { return strings.EqualFold(r, name) }) {
		d.Report(at, decode.Problem{
			Code:    schema.ReservedIdentifier,
			Message: fmt.Sprintf("%s %q is reserved for files of the session", what, name),
			Hint:    "choose another id",
		})
		return false
	}
	return true
}

// deviceNames checks the identifiers of expanded devices. Of one entry's problems the
// first is reported.
func (d *decoder) deviceNames(list *deviceList) bool {
	ok, next := true, 0
	d.names.clear()
	for i := range list.entries {
		e := &list.entries[i]
		devices := list.expanded[next : next+e.count]
		next += e.count
		if !e.named.Present() {
			continue
		}
		d.EnterItem(i)
		// The last identifier is the longest.
		good := d.usable("device", devices[len(devices)-1].ID, e.named, nil) && d.usable("device", devices[0].ID, e.named, schema.ReservedDevices)
		for _, device := range devices {
			if !good {
				break
			}
			if earlier, clash := d.names.add(device.ID, e.named); clash {
				good = false
				d.clash("device", device.ID, e.named, earlier)
			}
		}
		ok = ok && good
		d.Leave()
	}
	return ok
}
