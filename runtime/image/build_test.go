package image

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/cosim-go/cosim/runtime/internal/leaktest"
	"github.com/cosim-go/cosim/runtime/internal/realtool"
	"github.com/cosim-go/cosim/runtime/plan"
	"github.com/cosim-go/cosim/topology/layout"
)

// names lists a directory, or nothing where there is none.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	list := []string{}
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

func wantNames(t *testing.T, dir string, want ...string) {
	t.Helper()
	if got := names(t, dir); !slices.Equal(got, append([]string{}, want...)) {
		t.Errorf("%s holds %q, want %q", dir, got, want)
	}
}

// Requirement: X5
func TestBuildRunsTheRecipe(t *testing.T) {
	dir := t.TempDir()
	i := shell(dir, `pwd; printf '%s\n' "$X" "$Y" "$COSIM_WORKSPACE" "${COSIM_IMAGE##*/}" "$0"; echo built >"$COSIM_IMAGE"; echo rest >"$COSIM_IMAGE.tmp"`)
	i.Recipe.Args = append(i.Recipe.Args, `*;"$(x)`) // no shell looks at it
	i.Recipe.Env = map[string]string{"X": "a b", "COSIM_WORKSPACE": "hidden"}
	var out bytes.Buffer
	var events []Event
	built, err := Build(t.Context(), i, &Options{
		Workspace: "/ws", Env: []string{"Y=y"}, Output: &out, Progress: func(e Event) { events = append(events, e) },
	})
	if err != nil || !built {
		t.Fatalf("Build = %v, %v", built, err)
	}
	want := strings.Join([]string{dir, "a b", "y", "/ws", ".disk.cosim-build.img", `*;"$(x)`, ""}, "\n")
	if out.String() != want {
		t.Errorf("the program printed %q, want %q", out.String(), want)
	}
	if text := content(t, i.Path); text != "built\n" {
		t.Errorf("the image holds %q", text)
	}
	wantNames(t, dir+"/out", "disk.img", "disk.img.cosim.json")
	if want := []Event{{i.Path, Building, "not there yet"}, {i.Path, Built, ""}}; !slices.Equal(events, want) {
		t.Errorf("events = %v, want %v", events, want)
	}
	if built, err := Build(t.Context(), i, nil); built || err != nil {
		t.Errorf("a second Build = %v, %v, want the image kept", built, err)
	}
}

func TestABuildThatFailsLeavesEverythingAsItWas(t *testing.T) {
	for name, tt := range map[string]struct {
		script, want string
	}{
		"exits with an error":  {`echo half >"$COSIM_IMAGE"; echo rest >"$COSIM_IMAGE.x"; echo no space; exit 7`, "/bin/sh exited with status 7: no space"},
		"writes nothing":       {`true`, "ended well, but wrote nothing to $COSIM_IMAGE"},
		"writes a directory":   {`mkdir -p "$COSIM_IMAGE/x"`, "did not write a regular file"},
		"writes a link":        {`ln -s in "$COSIM_IMAGE"`, "did not write a regular file"},
		"takes too long":       {`echo half >"$COSIM_IMAGE"; sleep 1000`, "it took longer than 50ms, the timeout of the recipe"},
		"is ended by a signal": {`kill -9 $$`, "ended by signal SIGKILL"},
	} {
		for _, before := range []string{"", "old\n"} {
			t.Run(fmt.Sprintf("%s, before %q", name, before), func(t *testing.T) {
				dir := t.TempDir()
				i := shell(dir, `echo old >"$COSIM_IMAGE"`)
				if before != "" {
					mustBuildIt(t, i)
				}
				i.Recipe.Args[1], i.Recipe.Digest = tt.script, "other"
				if name == "takes too long" {
					i.Recipe.Timeout = "50ms"
				}
				built, err := Build(t.Context(), i, nil)
				if built || err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), i.Path) {
					t.Errorf("Build = %v, %v, want an error: %s", built, err, tt.want)
				}
				if before == "" {
					wantNames(t, dir) // the directory for it is gone, too
					return
				}
				wantNames(t, dir+"/out", "disk.img", "disk.img.cosim.json")
				if text := content(t, i.Path); text != before {
					t.Errorf("the image holds %q, want %q", text, before)
				}
				wantState(t, i, plan.Stale, "its recipe has changed")
			})
		}
	}
}

func TestABuildEndsWithItsContext(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancelCause(t.Context())
	i := shell(dir, `echo started; sleep 1000`)
	_, err := Build(ctx, i, &Options{Output: writerFunc(func() { cancel(errors.New("interrupted")) })})
	if err == nil || !strings.Contains(err.Error(), "interrupted") {
		t.Errorf("Build = %v, want the cause", err)
	}
	wantNames(t, dir)
}

type writerFunc func()

func (f writerFunc) Write(b []byte) (int, error) { f(); return len(b), nil }

func TestStaleImagesAreBuiltAgain(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/in", "one")
	i := shell(dir, `cp in "$COSIM_IMAGE"`, "in")
	mustBuildIt(t, i)
	write(t, dir+"/in", "other")
	mustBuildIt(t, i)
	if text := content(t, i.Path); text != "other" {
		t.Errorf("the image holds %q", text)
	}
	wantState(t, i, plan.Ready, "its stamp agrees")
}

func TestAStaleImageOfADirectDiskIsKept(t *testing.T) {
	dir := t.TempDir()
	i := shell(dir, `echo new >"$COSIM_IMAGE"`)
	mustBuildIt(t, i)
	write(t, i.Path, "the guest's")
	i.Direct, i.Recipe.Digest = true, "other"
	wantState(t, i, plan.Stale, "its recipe has changed")
	var event Event
	built, err := Build(t.Context(), i, &Options{Progress: func(e Event) { event = e }})
	if built || err != nil || content(t, i.Path) != "the guest's" {
		t.Errorf("Build = %v, %v, image %q, want it kept", built, err, content(t, i.Path))
	}
	if want := (Event{i.Path, Kept, "its recipe has changed, but a direct disk writes to it"}); event != want {
		t.Errorf("event = %v, want %v", event, want)
	}
}

func TestAFileOfTheUsersOwnIsNeverOverwritten(t *testing.T) {
	dir := t.TempDir()
	i := shell(dir, `echo new >"$COSIM_IMAGE"`)
	write(t, i.Path, "mine")
	if built, err := Build(t.Context(), i, nil); built || err != nil {
		t.Errorf("Build = %v, %v, want the file kept", built, err)
	}
	wantNames(t, dir+"/out", "disk.img")

	os.Remove(i.Path)
	i.Recipe.Args[1] = `echo new >"$COSIM_IMAGE"; echo mine >"$PWD/out/disk.img"` // comes while it is built
	if built, err := Build(t.Context(), i, nil); built || err == nil || !strings.Contains(err.Error(), "left as it is") {
		t.Errorf("Build = %v, %v, want a refusal", built, err)
	}
	wantNames(t, dir+"/out", "disk.img")
	if text := content(t, i.Path); text != "mine\n" {
		t.Errorf("the file holds %q", text)
	}
}

func TestUnbuildableImagesAreErrors(t *testing.T) {
	path := t.TempDir() + "/none"
	if built, err := Build(t.Context(), &plan.Image{Path: path}, nil); built || err == nil || !strings.Contains(err.Error(), "without a recipe") {
		t.Errorf("Build = %v, %v, want an error", built, err)
	}
}

func TestAMissingInputIsNamed(t *testing.T) {
	dir := t.TempDir()
	i := shell(dir, `touch "$COSIM_IMAGE"`, "gone")
	if _, err := Build(t.Context(), i, nil); err == nil || !strings.Contains(err.Error(), `gone" is not there`) {
		t.Errorf("Build = %v, want an error that names the input", err)
	}
	wantNames(t, dir)
}

func TestAProgramThatThePlanDidNotLookUp(t *testing.T) {
	i := shell(t.TempDir(), "")
	i.Recipe.Program = "sh"
	if _, err := Build(t.Context(), i, nil); err == nil || !strings.Contains(err.Error(), "make a new one") {
		t.Errorf("Build = %v, want an error that says what to do", err)
	}
}

// Requirement: X5
func TestSizeAloneMakesAnEmptySparseImage(t *testing.T) {
	tool := realtool.Path(t, "qemu-img")
	for _, format := range []string{"raw", "qcow2", ""} {
		i := &plan.Image{Path: t.TempDir() + "/empty", Format: format, Recipe: &plan.Recipe{Size: layout.GiB, Tool: tool, Timeout: "1m", Digest: "d"}}
		mustBuildIt(t, i)
		var st unix.Stat_t
		if err := unix.Stat(i.Path, &st); err != nil || st.Blocks*512 > 1<<20 {
			t.Errorf("format %q: %d blocks, %v, want a sparse file", format, st.Blocks, err)
		}
		want := "raw"
		if format == "qcow2" {
			want = "qcow2"
		}
		out, err := exec.Command(tool, "info", i.Path).Output()
		if err != nil || !strings.Contains(string(out), "file format: "+want) || !strings.Contains(string(out), "virtual size: 1 GiB") {
			t.Errorf("format %q: %s, %v, want %s of 1 GiB", format, out, err, want)
		}
		wantState(t, i, plan.Ready, "its stamp agrees")
	}
}

func TestALinkToAnImageStaysALink(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(os.Mkdir(dir+"/out", 0o755), os.Mkdir(dir+"/big", 0o755), os.Symlink("../big/disk.img", dir+"/out/disk.img")); err != nil {
		t.Fatal(err)
	}
	mustBuildIt(t, shell(dir, `echo built >"$COSIM_IMAGE"`))
	wantNames(t, dir+"/big", "disk.img")
	wantNames(t, dir+"/out", "disk.img", "disk.img.cosim.json")
	if target, err := os.Readlink(dir + "/out/disk.img"); err != nil || target != "../big/disk.img" {
		t.Errorf("link = %q, %v", target, err)
	}
}

// helperBuild builds an image slowly: its script waits for a line in a fifo.
func helperBuild() {
	i := shell(os.Args[1], fifoScript)
	built, err := Build(context.Background(), i, &Options{Session: "first", Progress: func(e Event) { fmt.Println(e.Step) }})
	fmt.Println(built, err)
}

const fifoScript = `echo x >>runs; read line <fifo; echo "$line" >"$COSIM_IMAGE"`

// Requirement: X5
func TestTwoSessionsBuildOnce(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mkfifo(dir+"/fifo", 0o600); err != nil {
		t.Fatal(err)
	}
	first := leaktest.Helper(t, "build", nil, dir)
	first.Want("building")
	var events []Event
	second := shell(dir, fifoScript)
	built, err := Build(t.Context(), second, &Options{Session: "second", Progress: func(e Event) {
		events = append(events, e)
		if e.Step == Waiting {
			write(t, dir+"/fifo", "content\n") // lets the first go on
		}
	}})
	if built || err != nil {
		t.Errorf("Build = %v, %v, want the other session's image", built, err)
	}
	waiting := fmt.Sprintf("session \"first\" (pid %d) builds it", first.Cmd.Process.Pid)
	if want := []Event{{second.Path, Waiting, waiting}, {second.Path, Kept, ""}}; !slices.Equal(events, want) {
		t.Errorf("events = %v, want %v", events, want)
	}
	first.Want("built")
	first.Want("true <nil>")
	if runs := content(t, dir+"/runs"); runs != "x\n" {
		t.Errorf("the recipe ran %d times", strings.Count(runs, "x"))
	}
	wantNames(t, dir+"/out", "disk.img", "disk.img.cosim.json")
}

func TestWaitingForAnotherBuildEndsWithTheContext(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mkfifo(dir+"/fifo", 0o600); err != nil {
		t.Fatal(err)
	}
	first := leaktest.Helper(t, "build", nil, dir)
	first.Want("building")
	ctx, cancel := context.WithCancelCause(t.Context())
	_, err := Build(ctx, shell(dir, fifoScript), &Options{Progress: func(Event) { cancel(errors.New("interrupted")) }})
	if err == nil || !strings.Contains(err.Error(), `session "first"`) || !strings.Contains(err.Error(), "interrupted") {
		t.Errorf("Build = %v, want who it waited for, and the cause", err)
	}
}

func TestABuildThatWasKilledIsBuiltOverByTheNext(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mkfifo(dir+"/fifo", 0o600); err != nil {
		t.Fatal(err)
	}
	first := leaktest.Helper(t, "build", nil, dir)
	first.Want("building")
	write(t, filepath.Join(dir, "out", ".disk.cosim-build.img"), "half")
	first.Kill()
	mustBuildIt(t, shell(dir, `[ ! -e "$COSIM_IMAGE" ] && echo whole >"$COSIM_IMAGE"`))
	wantNames(t, dir+"/out", "disk.img", "disk.img.cosim.json")
}
