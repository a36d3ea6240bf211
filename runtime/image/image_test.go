package image

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cosim-go/cosim/runtime/internal/leaktest"
	"github.com/cosim-go/cosim/runtime/plan"
)

func TestMain(m *testing.M) {
	leaktest.Main(m, map[string]func(){"build": helperBuild})
}

// shell makes an image in dir that a script builds from inputs there.
func shell(dir, script string, inputs ...string) *plan.Image {
	i := &plan.Image{Path: dir + "/out/disk.img", Recipe: &plan.Recipe{
		Program: "/bin/sh", Args: []string{"-c", script}, Env: map[string]string{}, Dir: dir, Timeout: "1m", Inputs: []string{},
	}}
	for _, name := range inputs {
		i.Recipe.Inputs = append(i.Recipe.Inputs, dir+"/"+name)
	}
	i.Recipe.Digest = plan.RecipeDigest(i.Recipe, i.Format)
	return i
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func content(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func wantState(t *testing.T, i *plan.Image, want plan.State, reason string) {
	t.Helper()
	for range 2 {
		if state, why := State(i); state != want || !strings.Contains(why, reason) {
			t.Errorf("State = %s, %q, want %s, %q", state, why, want, reason)
		}
	}
}

func mustBuildIt(t *testing.T, i *plan.Image) {
	t.Helper()
	if built, err := Build(t.Context(), i, nil); err != nil || !built {
		t.Fatalf("Build = %v, %v, want it built", built, err)
	}
}

// Requirements: P3, X4
func TestStatesWithoutAStamp(t *testing.T) {
	dir := t.TempDir()
	i := shell(dir, "exit 1")
	wantState(t, i, plan.Absent, "not there yet")
	own := &plan.Image{Path: i.Path}
	wantState(t, own, plan.Unbuildable, "not there, and without a recipe")
	write(t, i.Path, "mine")
	for _, i := range []*plan.Image{i, own} {
		wantState(t, i, plan.Ready, "the user's own")
	}
	wantState(t, &plan.Image{Path: dir}, plan.Unbuildable, "a directory")
	wantState(t, &plan.Image{Path: i.Path + "/below", Recipe: i.Recipe}, plan.Unbuildable, "not a directory")
}

// Requirements: P3, X4
func TestStatesAfterABuild(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(t *testing.T, dir string, i *plan.Image)
		state  plan.State
		reason string
	}{
		"nothing changed": {func(*testing.T, string, *plan.Image) {}, plan.Ready, "its stamp agrees"},
		"recipe changed":  {func(_ *testing.T, _ string, i *plan.Image) { i.Recipe.Digest = "other" }, plan.Stale, "its recipe has changed"},
		"recipe gone":     {func(_ *testing.T, _ string, i *plan.Image) { i.Recipe = nil }, plan.Ready, "no longer has"},
		"image gone":      {func(t *testing.T, _ string, i *plan.Image) { os.Remove(i.Path) }, plan.Absent, "not there yet"},
		"stamp gone":      {func(t *testing.T, _ string, i *plan.Image) { os.Remove(i.Path + StampSuffix) }, plan.Ready, "the user's own"},
		"stamp spoilt":    {func(t *testing.T, _ string, i *plan.Image) { write(t, i.Path+StampSuffix, "{") }, plan.Stale, "its stamp cannot be read"},
		"stamp of another version": {func(t *testing.T, _ string, i *plan.Image) { write(t, i.Path+StampSuffix, `{"version": 9}`) },
			plan.Stale, "its version is 9"},
		"input with another content": {func(t *testing.T, dir string, _ *plan.Image) { write(t, dir+"/in", "other") }, plan.Stale, `/in" has changed`},
		"input of the same size":     {func(t *testing.T, dir string, _ *plan.Image) { write(t, dir+"/in", "IN") }, plan.Stale, `/in" has changed`},
		"input touched": {func(t *testing.T, dir string, _ *plan.Image) { chtimes(t, dir+"/in", time.Unix(1, 0)) },
			plan.Ready, "its stamp agrees"},
		"input gone":            {func(t *testing.T, dir string, _ *plan.Image) { os.Remove(dir + "/in") }, plan.Stale, `/in" is not there`},
		"input made executable": {func(t *testing.T, dir string, _ *plan.Image) { os.Chmod(dir+"/in", 0o755) }, plan.Stale, `/in" has changed`},
		"file in a directory":   {func(t *testing.T, dir string, _ *plan.Image) { write(t, dir+"/src/sub/a", "b") }, plan.Stale, `/src/sub/a" has changed`},
		"new in a directory":    {func(t *testing.T, dir string, _ *plan.Image) { write(t, dir+"/src/new", "") }, plan.Stale, `/src/new" is new`},
		"gone from a directory": {func(t *testing.T, dir string, _ *plan.Image) { os.Remove(dir + "/src/b") }, plan.Stale, `/src/b" is gone`},
		"link in a directory": {func(t *testing.T, dir string, _ *plan.Image) {
			os.Remove(dir + "/src/link")
			os.Symlink("other", dir+"/src/link")
		}, plan.Stale, `/src/link" has changed`},
		"what cosim leaves in a directory": {func(t *testing.T, dir string, _ *plan.Image) {
			write(t, dir+"/src/.cosim/s/session.json", "")
			write(t, dir+"/src/other.img.cosim.json", "")
		}, plan.Ready, "its stamp agrees"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir+"/in", "in")
			write(t, dir+"/src/sub/a", "a")
			write(t, dir+"/src/b", "b")
			if err := os.Symlink("nowhere", dir+"/src/link"); err != nil {
				t.Fatal(err)
			}
			i := shell(dir, `cat in src/b >"$COSIM_IMAGE"`, "in", "src", "in")
			mustBuildIt(t, i)
			tt.change(t, dir, i)
			wantState(t, i, tt.state, tt.reason)
		})
	}
}

func chtimes(t *testing.T, path string, at time.Time) {
	t.Helper()
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

func TestInputsAreReadOnlyWhereSizeOrTimeDiffer(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/in", "one")
	chtimes(t, dir+"/in", time.Unix(1000, 0))
	i := shell(dir, `cp in "$COSIM_IMAGE"`, "in")
	mustBuildIt(t, i)
	write(t, dir+"/in", "two")
	chtimes(t, dir+"/in", time.Unix(1000, 0))
	wantState(t, i, plan.Ready, "its stamp agrees") // looked at, not read
	chtimes(t, dir+"/in", time.Unix(1001, 0))
	wantState(t, i, plan.Stale, "has changed")
}

// An input that changes right after it was read, in the same step of the file system's
// clock and with the same size, would go unnoticed.
func TestAFileIsReadOnceItsTimeHasSettled(t *testing.T) {
	mtime := time.Unix(1000, 0)
	for age, want := range map[time.Duration]time.Duration{
		0: granularity, granularity / 4: granularity - granularity/4, granularity: 0, time.Hour: 0, -time.Hour: 0,
	} {
		if got := unsettled(mtime.UnixNano(), mtime.Add(age)); got != want {
			t.Errorf("unsettled at age %v = %v, want %v", age, got, want)
		}
	}
}

func TestAnImageAmongItsInputsIsNone(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/out/in", "in")
	i := shell(dir, `cp out/in "$COSIM_IMAGE"`, "out")
	mustBuildIt(t, i)
	wantState(t, i, plan.Ready, "its stamp agrees")
}
