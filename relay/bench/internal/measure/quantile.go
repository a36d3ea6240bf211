package measure

import (
	"math"
	"slices"
)

// quantile is the value that a share q of the values, from 0 to 1, does not exceed: the median for 0.5 and an
// odd number of them, the mean of the middle two for an even one. It is 0 for no values, which it sorts.
func quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	at := q * float64(len(values)-1)
	below := math.Floor(at)
	low, high := values[int(below)], values[int(math.Ceil(at))]
	return low + (high-low)*(at-below)
}
