//go:build !race

package cartridge_test

const raceEnabled = false
