package flow

// A table finds the place of an entry in a slice by the hash of the entry's key. It allocates
// only to hold more entries than ever before, however many come and go: what is removed leaves
// no trace. (The map of the language allocates now and then while keys change.)
//
// It is a hash table with linear probing, at most half full. Place 0 is no place.
type table struct {
	cells []cell // as many as a power of two
	used  int
}

type cell struct {
	hash  uint32
	place int32
}

// smallestTable is how many cells a table begins with.
const smallestTable = 16

// first returns the index of the cell where entries of a hash begin. From there on they stand
// in cells that follow each other, until the first cell without a place.
func (t *table) first(hash uint32) int { return int(hash) & (len(t.cells) - 1) }

func (t *table) next(i int) int { return (i + 1) & (len(t.cells) - 1) }

// insert adds an entry that is not there.
func (t *table) insert(hash uint32, place int32) {
	if 2*t.used >= len(t.cells) {
		t.grow()
	}
	t.used++
	t.put(cell{hash, place})
}

func (t *table) put(c cell) {
	i := t.first(c.hash)
	for t.cells[i].place != 0 {
		i = t.next(i)
	}
	t.cells[i] = c
}

func (t *table) grow() {
	old := t.cells
	t.cells = make([]cell, max(smallestTable, 2*len(old)))
	for _, c := range old {
		if c.place != 0 {
			t.put(c)
		}
	}
}

// remove removes an entry that is there.
func (t *table) remove(hash uint32, place int32) {
	gap := t.first(hash)
	for t.cells[gap].place != place {
		gap = t.next(gap)
	}
	for i := t.next(gap); t.cells[i].place != 0; i = t.next(i) {
		if t.between(t.first(t.cells[i].hash), gap, i) {
			t.cells[gap] = t.cells[i]
			gap = i
		}
	}
	t.cells[gap] = cell{}
	t.used--
}

// between reports whether gap is on the way from where an entry begins to where it is, both
// included.
func (t *table) between(begin, gap, at int) bool {
	mask := len(t.cells) - 1
	return (at-begin)&mask >= (at-gap)&mask
}
