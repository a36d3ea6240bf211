package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/cosim-go/cosim/runtime/supervise"
)

// runVariable marks everything that this run of the tests starts: its value is the
// process ID of the test binary.
const runVariable = "COSIM_TEST_RUN"

// TestMain lets the test binary be cosim, its guard, and the simulators of the tests.
func TestMain(m *testing.M) {
	if supervise.GuardMain() {
		return
	}
	testscript.Main(tests{m}, map[string]func(){
		"cosim":      main,
		"stub-qemu":  stubQEMU,
		"stub-gem5":  stubGem5,
		"stub-relay": stubRelay,
		"stub-one":   stubCartridge,
		"stub-two":   stubCartridge,
	})
}

// tests are all tests of the package. They fail when something of a session is left.
type tests struct{ *testing.M }

func (t tests) Run() int {
	os.Setenv(runVariable, strconv.Itoa(os.Getpid()))
	os.Setenv("GORACE", "atexit_sleep_ms=0") // not a second for each process of the tests
	code := t.M.Run()
	if left := leftoversOfRun(); len(left) > 0 {
		fmt.Fprintf(os.Stderr, "FAIL: the tests leave %q\n", left)
		return 1
	}
	return code
}

// binDir is where testscript has put the commands of TestMain.
func binDir() string {
	cosim, err := exec.LookPath("cosim")
	if err != nil {
		panic("the tests have no cosim: " + err.Error())
	}
	return filepath.Dir(cosim)
}
