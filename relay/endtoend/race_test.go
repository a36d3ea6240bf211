//go:build race

package endtoend

// The race detector makes all that goes over bytes, such as checksums, many times slower.
const raceDetector = true
