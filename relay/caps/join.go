package caps

import (
	"math"
	"slices"
	"sort"
)

// Lists are lists of numbers, one behind the other.
type lists struct {
	numbers []int32
	starts  []int32 // where each begins; one more for the end of the last
}

func (l *lists) list(i int32) []int32 { return l.numbers[l.starts[i]:l.starts[i+1]] }

// An arrangement is the caps of an index in some order.
type arrangement struct {
	caps []int32 // which cap stands at each place
	with lists   // of the places of the caps with each term, rising
}

// arrange puts caps in an order, given the terms of each cap and how many there are.
func arrange(caps []int32, termsOf *lists, terms int) arrangement {
	starts := make([]int32, terms+1)
	for _, t := range termsOf.numbers {
		starts[t+1]++
	}
	for t := range terms {
		starts[t+1] += starts[t]
	}
	places := make([]int32, len(termsOf.numbers))
	next := slices.Clone(starts)
	for place, c := range caps {
		for _, t := range termsOf.list(c) {
			places[next[t]] = int32(place)
			next[t]++
		}
	}
	return arrangement{caps: caps, with: lists{numbers: places, starts: starts}}
}

// A union is the places that meet a condition: those of some lists, each of which rises.
type union struct {
	lists [mostTerms][]int32
	n     int
}

// atEnd is behind every place.
const atEnd = math.MaxInt32

// from returns the first place that is in the union and not before one. The places before that
// one are dropped.
func (u *union) from(place int32) int32 {
	first := int32(atEnd)
	for i := range u.lists[:u.n] {
		u.lists[i] = skip(u.lists[i], place)
		if len(u.lists[i]) > 0 {
			first = min(first, u.lists[i][0])
		}
	}
	return first
}

// skip drops what is before a place, in a time that grows with the logarithm of how much that is.
func skip(list []int32, place int32) []int32 {
	if len(list) == 0 || list[0] >= place {
		return list
	}
	step := 1 // list[step/2] is before the place
	for step < len(list) && list[step] < place {
		step *= 2
	}
	low := step / 2
	n, _ := slices.BinarySearch(list[low:min(step, len(list))], place)
	return list[low+n:]
}

// passRun returns the first place that is not in a list and not before one, and the list without
// what is before it. What a run of places in a row takes grows with the logarithm of its length.
func passRun(list []int32, place int32) (int32, []int32) {
	list = skip(list, place)
	if len(list) == 0 || list[0] != place {
		return place, list
	}
	inRow := func(i int) bool { return i < len(list) && list[i] == place+int32(i) }
	step := 1 // list[step/2] is in the row
	for inRow(step) {
		step *= 2
	}
	low := step / 2
	length := low + sort.Search(step-low, func(i int) bool { return !inRow(low + i) })
	return place + int32(length), list[length:]
}

// A walk steps through the places of an arrangement that meet a query.
type walk struct {
	unions     [mostConditions]union
	n          int
	excluded   [mostExclusions][]int32
	exclusions int
	end        int32 // the place behind the last
}

func (w *walk) start(a *arrangement, q *query) {
	w.n, w.exclusions, w.end = q.n, q.exclusions, int32(len(a.caps))
	for i := range q.conditions[:q.n] {
		c, u := &q.conditions[i], &w.unions[i]
		u.n = c.n
		for j, t := range c.terms[:c.n] {
			u.lists[j] = a.with.list(t)
		}
	}
	for i, t := range q.excluded[:q.exclusions] {
		w.excluded[i] = a.with.list(t)
	}
}

// from returns the first place that meets the query and is not before one, or one behind the end.
func (w *walk) from(place int32) int32 {
	for met := 0; met < w.n+w.exclusions && place < w.end; {
		var next int32
		if met < w.n {
			next = w.unions[met].from(place)
		} else {
			next, w.excluded[met-w.n] = passRun(w.excluded[met-w.n], place)
		}
		if next == place {
			met++
			continue
		}
		place, met = next, 0
	}
	return place
}
