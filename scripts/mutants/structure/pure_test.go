package structure

import (
	"slices"
	"strings"
	"testing"
)

// The packages of the standard library that neither look at the system nor change it.
// Only direct imports count: fmt needs os too, for what pure packages do not call.
var pure = []string{
	"bytes", "cmp", "encoding/json", "errors", "fmt", "io", "io/fs", "iter", "maps", "math", "math/bits",
	"path", "regexp", "slices", "sort", "strconv", "strings", "testing/fstest", "time", "unicode", "unicode/utf16",
	"unicode/utf8",
}

// What pure packages offer that is not pure: output of the process, clock and time zone.
var impure = map[string][]string{
	"fmt": {"Print", "Printf", "Println", "Scan", "Scanf", "Scanln"},
	"time": {
		"After", "AfterFunc", "LoadLocation", "Local", "NewTicker", "NewTimer", "Now", "Since", "Sleep", "Tick", "Until",
	},
}

// Requirements: D2, P2. What these modules do depends on their arguments alone, so that
// other tools can use them anywhere and a topology means the same on every system.
func TestPureModulesDoNotTouchTheSystem(t *testing.T) {
	for _, module := range []string{"topology", "adapters"} {
		for _, file := range sources(t, module, false) {
			for _, path := range file.imports() {
				standard := !strings.Contains(strings.SplitN(path, "/", 2)[0], ".")
				switch {
				case standard && !slices.Contains(pure, path):
					t.Errorf("%s imports %q, which may touch the system", file.name, path)
				case strings.HasPrefix(path, "golang.org/x/sys"):
					t.Errorf("%s imports %q, which is for system calls", file.name, path)
				}
			}
			file.uses(func(left, right string, line int) {
				if slices.Contains(impure[left], right) {
					t.Errorf("%s:%d: %s.%s touches the system", file.name, line, left, right)
				}
			})
		}
	}
}
