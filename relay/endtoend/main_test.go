package endtoend

import (
	"fmt"
	"os"
	"testing"
)

// The role of this program, in its environment: without one it runs the tests.
const (
	roleVariable = "RELAY_ENDTOEND_ROLE"
	nameVariable = "RELAY_ENDTOEND_NAME"

	// The mark by which processes are found that a test has left behind.
	markVariable = "RELAY_ENDTOEND_MARK"
)

var roles = map[string]func(){
	"cartridge": serveCartridge,
	"raw":       serveRaw,
	"host":      serveHost,
}

func TestMain(m *testing.M) {
	role := os.Getenv(roleVariable)
	if role == "" {
		os.Exit(m.Run())
	}
	serve, ok := roles[role]
	if !ok {
		fmt.Fprintf(os.Stderr, "no role %q\n", role)
		os.Exit(2)
	}
	serve()
}
