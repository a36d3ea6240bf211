package host

import (
	"fmt"
	"os"
	"testing"
)

// The variables that make this test binary a cartridge: how it behaves, and the mark by which its processes are found.
const (
	behaviourVar = "HOST_TEST_BEHAVIOUR"
	markVar      = "HOST_TEST_MARK"
)

func TestMain(m *testing.M) {
	behaviour, ok := os.LookupEnv(behaviourVar)
	if !ok {
		os.Exit(m.Run())
	}
	if behaviour == "host" {
		os.Exit(runHost())
	}
	if len(os.Args) > 1 {
		fmt.Fprintln(os.Stderr, "a cartridge is started without arguments, not with", os.Args[1:])
		os.Exit(64)
	}
	os.Exit(runProcess(behaviour))
}
