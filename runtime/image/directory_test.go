package image

import (
	"os"
	"testing"

	"github.com/cosim-go/cosim/runtime/plan"
)

// Requirement: X4. A directory in the place of an image is none, and no recipe is run over it.
func TestADirectoryIsNoImage(t *testing.T) {
	i := shell(t.TempDir(), `echo built >"$COSIM_IMAGE"`)
	if err := os.MkdirAll(i.Path, 0o755); err != nil {
		t.Fatal(err)
	}
	wantState(t, i, plan.Unbuildable, "a directory")
	if built, err := Build(t.Context(), i, nil); built || err == nil {
		t.Errorf("Build = %v, %v, want an error", built, err)
	}
	if info, err := os.Stat(i.Path); err != nil || !info.IsDir() {
		t.Errorf("the directory is gone: %v", err)
	}
}
