package flow

import "testing"

// TestTableFindsWhatIsThere has so few hashes that entries stand in each other's way and around
// the end of the table.
func TestTableFindsWhatIsThere(t *testing.T) {
	r := random(t)
	for range 50 {
		var table table
		hashes := map[int32]uint32{} // of the entries that are there
		for range 2000 {
			place := 1 + r.Int32N(40)
			if hash, there := hashes[place]; there {
				table.remove(hash, place)
				delete(hashes, place)
			} else {
				hashes[place] = r.Uint32N(6) * 13
				table.insert(hashes[place], place)
			}
			if table.used != len(hashes) {
				t.Fatalf("used = %d, want %d", table.used, len(hashes))
			}
			for place, hash := range hashes {
				if !table.has(hash, place) {
					t.Fatalf("entry %d of hash %d is not found in %v", place, hash, table.cells)
				}
			}
		}
	}
}

func (t *table) has(hash uint32, place int32) bool {
	for i := t.first(hash); t.cells[i].place != 0; i = t.next(i) {
		if t.cells[i] == (cell{hash, place}) {
			return true
		}
	}
	return false
}

func TestHashTellsKeysApart(t *testing.T) {
	h := newHasher()
	seen := map[uint32]Key{}
	for _, k := range modelKeys {
		if other, twice := seen[h.key(&k.RID, &k.XID)]; twice {
			t.Errorf("%v and %v have one hash", k, other)
		}
		seen[h.key(&k.RID, &k.XID)] = k
	}
	other := newHasher()
	if h.key(&modelKeys[0].RID, &modelKeys[0].XID) == other.key(&modelKeys[0].RID, &modelKeys[0].XID) && h.key(&modelKeys[1].RID, &modelKeys[1].XID) == other.key(&modelKeys[1].RID, &modelKeys[1].XID) {
		t.Error("two hashers hash alike")
	}
}
