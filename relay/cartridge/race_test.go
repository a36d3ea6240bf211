//go:build race

package cartridge_test

// raceEnabled is set where the race detector allocates on its own account.
const raceEnabled = true
