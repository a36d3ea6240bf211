package caps

import (
	"hash/maphash"
	"slices"
)

// An Index finds the cap of a table that serves a request best: the one that [Rank] puts first.
// It stands for one state of the table and never changes; for another state make another index.
// It is safe for concurrent use, and finding waits for nobody.
//
// What it takes to find a cap depends on the request and hardly on the size of the table. The
// exception are exclusions: where caps that have a key which a request does not want, and all
// that it does want, stand between others of the same specificity, each of them takes a step. The
// results of the newest texts are remembered, a bounded number of them, for the life of the index.
type Index struct {
	caps  []*Cap // without those that are the same as one before
	first []int  // the place of each in the table

	terms map[term]int32 // their numbers

	registered arrangement // in the order of the table
	more       arrangement // by specificity, the least first
	less       arrangement // by specificity, the most first

	memo memo
}

// NewIndex returns an index over a table, in which earlier caps are preferred to equal later ones.
// The table may change afterwards, which the index does not see.
func NewIndex(table []*Cap) *Index {
	x := &Index{terms: map[term]int32{}}
	x.memo.seed = maphash.MakeSeed()
	seen := make(map[string]struct{}, len(table))
	for place, c := range table {
		if _, twice := seen[c.text]; !twice {
			seen[c.text] = struct{}{}
			x.caps = append(x.caps, c)
			x.first = append(x.first, place)
		}
	}
	termsOf := x.number()
	order := make([]int32, len(x.caps))
	for i := range order {
		order[i] = int32(i)
	}
	x.registered = arrange(order, termsOf, len(x.terms))
	order = slices.Clone(order)
	slices.SortStableFunc(order, x.bySpecificity)
	x.more = arrange(order, termsOf, len(x.terms))
	order = slices.Clone(x.registered.caps)
	slices.SortStableFunc(order, func(a, b int32) int { return x.bySpecificity(b, a) })
	x.less = arrange(order, termsOf, len(x.terms))
	return x
}

func (x *Index) bySpecificity(a, b int32) int { return x.caps[a].specificity - x.caps[b].specificity }

// number numbers all terms and returns the numbers of each cap's.
func (x *Index) number() *lists {
	var terms []term // of one cap at a time
	common := map[term]int{}
	for _, c := range x.caps {
		terms = c.demandTerms(terms[:0])
		for _, t := range terms {
			common[t]++
		}
	}
	of := &lists{starts: make([]int32, 1, len(x.caps)+1)}
	for _, c := range x.caps {
		terms = c.terms(terms[:0], common)
		for _, t := range terms {
			n, there := x.terms[t]
			if !there {
				n = int32(len(x.terms))
				x.terms[t] = n
			}
			of.numbers = append(of.numbers, n)
		}
		of.starts = append(of.starts, int32(len(of.numbers)))
	}
	return of
}

// Find returns the place in the table of the cap that serves a request best, and false when none
// does or the request is no cap. With a preferred cap, the first cap that can serve the request
// and is equivalent to the preferred one comes before all others; "", or a text that is no cap,
// prefers none.
func (x *Index) Find(request, preferred string) (int, bool) {
	hash := x.memo.hash(maphash.String(x.memo.seed, request), preferred)
	if r := recall(&x.memo, hash, request, preferred); r != nil {
		return max(r.place, 0), r.place >= 0
	}
	return x.findAnew(hash, request, preferred)
}

// FindBytes is [Index.Find] for a request as a frame has it.
func (x *Index) FindBytes(request []byte, preferred string) (int, bool) {
	hash := x.memo.hash(maphash.Bytes(x.memo.seed, request), preferred)
	if r := recall(&x.memo, hash, request, preferred); r != nil {
		return max(r.place, 0), r.place >= 0
	}
	return x.findAnew(hash, string(request), preferred)
}

// findAnew finds a cap and remembers it.
func (x *Index) findAnew(hash uint64, request, preferred string) (int, bool) {
	place, found := 0, false
	if r, err := Parse(request); err == nil {
		var p *Cap
		if preferred != "" {
			p, _ = Parse(preferred) // nil when it is no cap
		}
		place, found = x.FindCap(r, p)
	}
	if found {
		x.memo.keep(hash, request, preferred, place)
	} else {
		x.memo.keep(hash, request, preferred, -1)
	}
	return place, found
}

// FindCap is [Index.Find] for caps. It remembers nothing. A nil preferred cap prefers none.
func (x *Index) FindCap(request, preferred *Cap) (int, bool) {
	q := query{index: x}
	q.dispatch(request)
	if q.hopeless {
		return 0, false
	}
	if preferred != nil {
		if c, found := x.equivalent(q, request, preferred); found {
			return x.first[c], true
		}
	}
	serves := func(c *Cap) bool { return Dispatchable(c, request) }
	less, _ := slices.BinarySearchFunc(x.more.caps, request.specificity, func(c int32, least int) int {
		return x.caps[c].specificity - least
	})
	if c, found := x.search(&x.more, less, &q, serves); found {
		return x.first[c], true
	}
	if c, found := x.search(&x.less, len(x.caps)-less, &q, serves); found {
		return x.first[c], true
	}
	return 0, false
}

// equivalent returns the first registered cap that serves a request, to which a query belongs,
// and is equivalent to a preferred one.
func (x *Index) equivalent(q query, request, preferred *Cap) (int32, bool) {
	q.equivalent(preferred)
	if q.hopeless {
		return 0, false
	}
	return x.search(&x.registered, 0, &q, func(c *Cap) bool {
		return Dispatchable(c, request) && c.Equivalent(preferred)
	})
}

// search returns the first cap of an arrangement, from a place on, that meets a query and is
// suitable.
func (x *Index) search(a *arrangement, place int, q *query, suitable func(*Cap) bool) (int32, bool) {
	var w walk
	w.start(a, q)
	for at := w.from(int32(place)); at < w.end; at = w.from(at + 1) {
		if c := a.caps[at]; suitable(x.caps[c]) {
			return c, true
		}
	}
	return 0, false
}
