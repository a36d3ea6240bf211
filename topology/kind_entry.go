package topology

import "github.com/cosim-go/cosim/topology/internal/source"

// A kindEntry is a kind with what only the loader needs to know of it.
type kindEntry struct {
	*Kind
	broken bool         // its declaration has errors, so that nothing is checked against it
	key    source.Value // absent for a built-in kind
	disks  nameList     // the disks that its text refers to
	params map[string]*Param
	names  []string // of params
}

func (k *kindEntry) paramNames() []string {
	if k.names == nil {
		k.names = make([]string, len(k.Params))
		for i, p := range k.Params {
			k.names[i] = p.Name
		}
	}
	return k.names
}

// param finds the declaration of a parameter, and gives nil where there is none.
func (k *kindEntry) param(name string) *Param {
	if k.params == nil {
		k.params = make(map[string]*Param, len(k.Params))
		for i := range k.Params {
			k.params[k.Params[i].Name] = &k.Params[i]
		}
	}
	return k.params[name]
}

// A nameList is a list of names without any twice.
type nameList struct {
	names []string
	known map[string]bool
}

func (l *nameList) add(name string) {
	if l.known[name] {
		return
	}
	if l.known == nil {
		l.known = make(map[string]bool)
	}
	l.known[name] = true
	l.names = append(l.names, name)
}

// attaches reports whether devices of the kind add something to their vhost.
func (k *kindEntry) attaches() bool {
	return k.Template == nil || k.Template.Attach.VFIOUser || len(k.Template.Attach.Args) > 0
}

// takesAttachments reports whether vhosts of the kind have a place for what devices add.
func (k *kindEntry) takesAttachments() bool {
	if k.Template == nil {
		return true
	}
	for _, arg := range k.Template.Args {
		if name, ok := arg.Sole(); ok && name == "attach" {
			return true
		}
	}
	return false
}
