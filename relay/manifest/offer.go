package manifest

import "slices"

// An Offer is how a switch lets in requests for the caps of one install.
type Offer struct {
	Install Install
	Pools   Pools // nil is no bound
}

// AdmissionPools returns the pools through which a switch lets in requests for the caps of a record. Those of a
// cartridge that runs are the ones it has; a cap without one of its own there can not be asked for. One that does
// not run gets one request at a time, through [PoolAll], whatever it had when it ran: the first shows that it
// starts. nil is no bound, when the host tells nothing of the process.
func (r *Record) AdmissionPools() Pools {
	switch {
	case r.Stats == nil:
		return nil
	case r.Stats.Running && r.Stats.Pools == nil:
		return Pools{}
	case r.Stats.Running:
		return r.Stats.Pools
	}
	p := make(Pools, len(r.Stats.Pools)+1)
	for name, s := range r.Stats.Pools {
		p[name] = s
	}
	all := p[PoolAll]
	all.Configured, all.Available, all.Caps = 1, nil, nil
	for _, c := range capSet(nil, []Record{{Groups: r.Groups}}) {
		name := c.String()
		if _, own := p[name]; !own {
			p[name] = PoolState{}
		}
		all.Caps = append(all.Caps, name)
	}
	p[PoolAll] = all
	return p
}

// Offers returns the installs that offer caps, each once, in the order of their first records without an
// attachment error. An install with several such records, one for each of its processes, has the pools
// of the first of them: that is where its host sends requests.
func (v *Inventory) Offers() []Offer {
	var offers []Offer
	seen := map[Install]bool{}
	for i := range v.Records {
		r := &v.Records[i]
		if r.AttachmentError == nil && !seen[r.Install] {
			seen[r.Install] = true
			offers = append(offers, Offer{r.Install, r.AdmissionPools()})
		}
	}
	return offers
}

// Owners returns the installs that offer a cap, by the cap's canonical text, in the order of their records. More
// than one is ambiguous: nobody can say whose pools count. A cap that is announced by itself alone has none.
func (v *Inventory) Owners() map[string][]Install {
	owners := make(map[string][]Install, len(v.Caps))
	for i := range v.Records {
		r := &v.Records[i]
		if r.AttachmentError != nil {
			continue
		}
		for c := range r.Caps() {
			if text := c.URN.String(); !slices.Contains(owners[text], r.Install) {
				owners[text] = append(owners[text], r.Install)
			}
		}
	}
	return owners
}
