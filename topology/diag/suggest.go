package diag

import (
	"strings"
	"unicode/utf8"
)

// Suggest returns the one of the valid names that the writer of name most likely
// meant, and "" where none is close. A name that differs in case alone comes first,
// then the one with the fewest changed, added, dropped or swapped characters; of
// equally close ones the first in alphabetical order, whatever the order of valid.
// Name itself is never suggested.
func Suggest(name string, valid []string) string {
	best, least := "", maxEdits+1
	folded := []rune(strings.ToLower(name))
	for _, v := range valid {
		if v == name {
			continue
		}
		if d, ok := closeness(folded, v, least); ok && (d < least || v < best) {
			best, least = v, d
		}
	}
	return best
}

// maxEdits is the number of edits that a suggestion never exceeds, however long the
// name: further away, two words are more often different things than a slip.
const maxEdits = 3

// maxSuggestLength is the length in characters up to which names are compared, above
// that of any identifier: the work grows with the square of it.
const maxSuggestLength = 128

// closeness counts the edits between a folded name and a valid one. It is not ok where
// there are more than limit, or too many for names of that length: one edit in three
// characters, and always less than all of them.
func closeness(name []rune, valid string, limit int) (edits int, ok bool) {
	n, v := len(name), utf8.RuneCountInString(valid)
	longer, shorter := max(n, v), min(n, v)
	limit = min(limit, maxEdits, max(1, longer/3), shorter-1)
	if longer-shorter > max(limit, 0) || longer > maxSuggestLength {
		return 0, false
	}
	edits = distance(name, []rune(strings.ToLower(valid)))
	return edits, edits == 0 || edits <= limit
}

// distance is the number of characters to insert, delete, replace or swap with their
// neighbour to make b of a (optimal string alignment).
func distance(a, b []rune) int {
	var before []int // the row of a[:i-2]
	above := make([]int, len(b)+1)
	for j := range above {
		above[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			replace := above[j-1]
			if a[i-1] != b[j-1] {
				replace++
			}
			row[j] = min(above[j]+1, row[j-1]+1, replace)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, above = above, row
	}
	return above[len(b)]
}
