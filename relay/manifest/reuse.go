package manifest

import "bytes"

// parts are the large parts of a record: where a document has them, and what they say.
type parts struct {
	groups  span
	caps    []CapGroup
	pools   span
	states  Pools
	same    bool               // states are those of the document before
	members map[string]members // by the name of the pool, where it has any
}

// members are those of a pool.
type members struct {
	at   span // within the record's pools
	list []string
}

// A span is a part of a text, half-open; empty when there is none.
type span struct{ from, to int }

func (s span) add(n int) span { return span{s.from + n, s.to + n} }

// same passes what stood at a span of the document before, if that comes again, and reports whether it does. It has to
// be an object or an array, which end where they end whatever follows.
func (r *reader) same(s span) bool {
	r.space()
	if s.from == s.to || !bytes.HasPrefix(r.data[r.pos:], r.old[s.from:s.to]) {
		return false
	}
	r.pos += s.to - s.from
	return true
}

func readRecordGroups(r *reader, v *Record) error {
	r.space()
	start := r.pos
	if r.same(r.before.groups) {
		v.Groups = r.before.caps
	} else if err := readGroups(r, &v.Groups); err != nil {
		return err
	}
	r.now.groups, r.now.caps = span{start, r.pos}, v.Groups
	return nil
}

func readRecordPools(r *reader, s *RuntimeStats) (err error) {
	r.space()
	start := r.pos
	r.now.pools.from = start
	if r.same(r.before.pools) {
		s.Pools, r.now.members, r.now.same = r.before.states, r.before.members, true
	} else if s.Pools, err = r.pools(); err != nil {
		return err
	}
	r.now.pools.to, r.now.states = r.pos, s.Pools
	return nil
}

// members reads the members of a pool, each canonical text once.
func (r *reader) members() ([]string, error) {
	r.space()
	start := r.pos
	before := r.before.members[r.pool]
	list := before.list
	if !r.same(before.at.add(r.before.pools.from)) {
		caps, err := r.capList()
		if err != nil {
			return nil, err
		}
		list = make([]string, len(caps))
		for i, c := range caps {
			list[i] = c.String()
		}
	}
	if r.now.members == nil {
		r.now.members = map[string]members{}
	}
	r.now.members[r.pool] = members{span{start, r.pos}.add(-r.now.pools.from), list}
	return list, nil
}
