package relaytest

import (
	"fmt"
	"sync"
	"testing"

	"github.com/cosim-go/cosim/relay/caps"
)

// BenchLookup measures finding the cap that serves a request in an index over 10, 100, 1 000 and
// 10 000 caps. Number i of n caps is the cap URN that name returns.
//
// Each is a sub-benchmark with a name that stays. An operation is a lookup:
//
//   - lookup/caps=1000/new: of texts that the index has not seen, or not for long. The metric
//     x-10caps is the ratio to the same in a table of 10.
//   - lookup/caps=1000/repeated: of some texts again and again. The metric x-map is the ratio to
//     finding the same texts in a Go map.
//
// Both are measured by turns in the same run. A text is that of a cap with a tag more that asks
// for nothing.
func BenchLookup(b *testing.B, name func(i, n int) string) { benchAll(b, lookupCases(name)) }

// MeasureLookup measures what [BenchLookup] does, outside of a test. It fails when name returns a
// text that is no cap, or a cap that does not serve itself.
func MeasureLookup(name func(i, n int) string, o *MeasureOptions) ([]Figure, error) {
	return measureAll(lookupCases(name), o)
}

// lookupSizes are the sizes of tables. The first is what the others are held against.
var lookupSizes = []int{10, 100, 1_000, 10_000}

// How many texts are looked up: more than an index remembers, and few.
const (
	newTexts      = 8192
	repeatedTexts = 64
)

func lookupCases(name func(i, n int) string) []benchCase {
	indexes := make([]func() (*lookups, error), len(lookupSizes))
	var cases []benchCase
	for i, n := range lookupSizes {
		indexes[i] = sync.OnceValues(func() (*lookups, error) { return newLookups(name, n) })
		cases = append(cases,
			benchCase{
				name: fmt.Sprintf("lookup/caps=%d/new", n), floor: "10 caps", metric: "x-10caps",
				open: func() (frames, floor *path, err error) {
					x, err := indexes[i]()
					if err != nil {
						return nil, nil, err
					}
					small, err := indexes[0]()
					if err != nil {
						return nil, nil, err
					}
					return x.path(&x.next, newTexts), small.path(&small.next, newTexts), nil
				},
			},
			benchCase{
				name: fmt.Sprintf("lookup/caps=%d/repeated", n), floor: "Go map", metric: "x-map",
				open: func() (frames, floor *path, err error) {
					x, err := indexes[i]()
					if err != nil {
						return nil, nil, err
					}
					return x.path(new(int), repeatedTexts), x.inMap(repeatedTexts), nil
				},
			})
	}
	return cases
}

// lookups are an index with texts to look up.
type lookups struct {
	index *caps.Index
	texts []string
	next  int // of the new texts; all paths take them from here, so that none looks up what another one just has
}

func newLookups(name func(i, n int) string, n int) (*lookups, error) {
	table := make([]*caps.Cap, n)
	for i := range table {
		var err error
		if table[i], err = caps.Parse(name(i, n)); err != nil {
			return nil, fmt.Errorf("cap %d of %d: %w", i, n, err)
		}
	}
	x := &lookups{index: caps.NewIndex(table), texts: make([]string, newTexts)}
	for i := range x.texts {
		const stride = 7919 // a prime, so that all caps have their turn, neighbours not one after the other
		x.texts[i] = fmt.Sprintf("%s;?n%05d", table[i*stride%n], i)
	}
	return x, nil
}

// path is lookups of the first texts, in turn from the next one on.
func (x *lookups) path(next *int, texts int) *path {
	return &path{close: func() {}, run: func(n int) error {
		for range n {
			text := x.texts[*next]
			if _, found := x.index.Find(text, ""); !found {
				return fmt.Errorf("nothing serves %s", text)
			}
			*next = (*next + 1) % texts
		}
		return nil
	}}
}

// inMap is the same in a map.
func (x *lookups) inMap(texts int) *path {
	places := make(map[string]int, texts)
	for place, text := range x.texts[:texts] {
		places[string([]byte(text))] = place // not the very text that is looked up
	}
	next := 0
	return &path{close: func() {}, run: func(n int) error {
		for range n {
			if _, found := places[x.texts[next]]; !found {
				return fmt.Errorf("no %s", x.texts[next])
			}
			next = (next + 1) % texts
		}
		return nil
	}}
}
