package flow

// Numbers of FNV-1a in 64 bits, from "The FNV Non-Cryptographic Hash Algorithm"
// (draft-eastlake-fnv), section 5.
const (
	fnvBasis = 14695981039346656037
	fnvPrime = 1099511628211
)

// Checksum returns the checksum of a CHUNK's payload, FNV-1a in 64 bits. No payload counts as
// an empty one.
//
// Each byte has to wait for the multiplication of the one before, and nothing makes that
// faster; several payloads at once are faster, see [Checksums].
func Checksum(payload []byte) uint64 { return sumOn(fnvBasis, payload) }

// Checksums sets sums[i] to the checksum of payloads[i], for all of them. It goes over four
// payloads at a time, of any lengths, and so takes a third of the time that they take one by
// one. It panics when sums is shorter than payloads.
func Checksums(sums []uint64, payloads [][]byte) {
	sums = sums[:len(payloads)]
	for i := range sums {
		sums[i] = fnvBasis
	}
	sumAllOn(sums, payloads)
}

// sumOn goes on with a checksum.
func sumOn(sum uint64, b []byte) uint64 {
	for _, c := range b {
		sum = (sum ^ uint64(c)) * fnvPrime
	}
	return sum
}

// sumAllOn goes on with checksums, each with a payload of its own.
func sumAllOn(sums []uint64, payloads [][]byte) {
	for len(payloads) >= 4 && fourAlike(payloads) {
		*(*[4]uint64)(sums) = sumFourOn([4]uint64(sums), [4][]byte(payloads))
		sums, payloads = sums[4:], payloads[4:]
	}
	var lanes [4]lane
	next := 0
	for {
		busy := 0
		for i := range lanes {
			for len(lanes[i].rest) == 0 && next < len(payloads) {
				lanes[i] = lane{&sums[next], payloads[next]}
				next++
			}
			if len(lanes[i].rest) > 0 {
				lanes[busy], lanes[i] = lanes[i], lanes[busy]
				busy++
			}
		}
		switch busy {
		case 0:
			return
		case 1:
			*lanes[0].sum = sumOn(*lanes[0].sum, lanes[0].rest)
			return
		}
		goOn(&lanes, busy)
	}
}

// fourAlike reports whether the first four payloads, as the chunks of a long one usually do,
// have one length.
func fourAlike(p [][]byte) bool {
	n := len(p[0])
	return len(p[1]) == n && len(p[2]) == n && len(p[3]) == n
}

// A lane is one of the checksums that are worked on side by side.
type lane struct {
	sum  *uint64
	rest []byte
}

// goOn goes on with the first lanes, two to four, until one of them has no rest. Where there is
// no lane the first one is worked on once more, which takes no time.
func goOn(lanes *[4]lane, busy int) {
	first := lanes[0]
	n := len(first.rest)
	for _, l := range lanes[:busy] {
		n = min(n, len(l.rest))
	}
	var sums [4]uint64
	var heads [4][]byte
	for i := range lanes {
		from := first
		if i < busy {
			from = lanes[i]
			lanes[i].rest = from.rest[n:]
		}
		sums[i], heads[i] = *from.sum, from.rest[:n]
	}
	sums = sumFourOn(sums, heads)
	for i, l := range lanes[:busy] {
		*l.sum = sums[i]
	}
}

// sumFourOn goes on with four checksums, with as many bytes each.
func sumFourOn(sums [4]uint64, heads [4][]byte) [4]uint64 {
	a, b, c, d := heads[0], heads[1], heads[2], heads[3]
	s, t, u, v := sums[0], sums[1], sums[2], sums[3]
	b, c, d = b[:len(a)], c[:len(a)], d[:len(a)]
	for i := range a {
		s = (s ^ uint64(a[i])) * fnvPrime
		t = (t ^ uint64(b[i])) * fnvPrime
		u = (u ^ uint64(c[i])) * fnvPrime
		v = (v ^ uint64(d[i])) * fnvPrime
	}
	return [4]uint64{s, t, u, v}
}
