package main

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite the expected output inside the scripts")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"cosim": main})
}

// Each script is one behaviour of the command as users type it.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", UpdateScripts: *update, RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, ".home")
			env.Setenv("HOME", home)
			env.Setenv("NO_COLOR", "1")
			env.Setenv("XDG_RUNTIME_DIR", "")
			return os.Mkdir(home, 0o700)
		},
	})
}
