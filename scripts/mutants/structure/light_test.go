package structure

import (
	"slices"
	"strings"
	"testing"
)

// What the code of some modules may import besides the standard library and itself: whoever
// imports them gets this too.
var mayDependOn = map[string][]string{
	"topology": {"gopkg.in/yaml.v3"},
	"relay":    {"github.com/fxamacker/cbor/v2", "golang.org/x/sync"},
}

// Requirements: D8, D9
func TestTopologyAndRelayAreLight(t *testing.T) {
	for module, allowed := range mayDependOn {
		for _, file := range sources(t, module, false) {
			for _, path := range file.imports() {
				standard := !strings.Contains(strings.Split(path, "/")[0], ".")
				may := func(dependency string) bool { return path == dependency || strings.HasPrefix(path, dependency+"/") }
				if !standard && !may(repository+module) && !slices.ContainsFunc(allowed, may) {
					t.Errorf("%s imports %s; %s may depend on %q alone", file.name, path, module, allowed)
				}
			}
		}
	}
}
