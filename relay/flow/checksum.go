package flow

// Numbers of FNV-1a in 64 bits, from "The FNV Non-Cryptographic Hash Algorithm"
// (draft-eastlake-fnv), section 5.
const (
	fnvBasis = 14695981039346656037
	fnvPrime = 1099511628211
)

// Checksum returns the checksum of a CHUNK's payload, FNV-1a in 64 bits. No payload counts as
// an empty one.
func Checksum(payload []byte) uint64 {
	sum := uint64(fnvBasis)
	for _, b := range payload {
		sum = (sum ^ uint64(b)) * fnvPrime
	}
	return sum
}

// Checksums sets sums[i] to the checksum of payloads[i].
func Checksums(sums []uint64, payloads [][]byte) {
	for i, p := range payloads {
		sums[i] = Checksum(p)
	}
}
