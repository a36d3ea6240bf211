package image

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cosim-go/cosim/runtime/disk"
	"github.com/cosim-go/cosim/runtime/internal/durable"
	"github.com/cosim-go/cosim/runtime/internal/flock"
	"github.com/cosim-go/cosim/runtime/plan"
)

// Options of [Build].
type Options struct {
	Workspace string      // absolute; COSIM_WORKSPACE of the recipe
	Session   string      // names the holder of the build's lock to other sessions
	Env       []string    // "name=value", more variables of the recipe's program
	Output    io.Writer   // of the recipe's program; nil drops it (an error has its last lines)
	Progress  func(Event) // called in order from one goroutine; may be nil
}

// An Event is a step of a build.
type Event struct {
	Path   string // of the image
	Step   Step
	Reason string // why it is built, or kept although it is stale; who else builds it
}

// A Step is how far a build has come.
type Step string

// The steps of a build: perhaps Waiting, then either Building and Built, or Kept where
// the image is ready by then.
const (
	Waiting  Step = "waiting"  // another session builds the image
	Building Step = "building" // the recipe runs
	Built    Step = "built"
	Kept     Step = "kept"
)

// lockSuffix is what the name of a build's lock has more. It stands beside the image,
// where all who can build it can see it, and is removed after the build.
const lockSuffix = ".cosim.lock"

// again is how often a session that waits for another one's build looks.
const again = 100 * time.Millisecond

// Build builds an image that is missing or stale now, whatever the plan says it was. It
// reports whether it did; an image that is ready, and a stale one that a direct disk
// writes to, is left alone. Sessions that want one image build it once.
//
// The recipe writes to a temporary file in the image's directory, which is made where it
// is missing. When the recipe has ended well, the file is made durable and renamed. A
// build that fails, or whose context ends, leaves the image as it was and nothing else.
func Build(ctx context.Context, i *plan.Image, opts *Options) (built bool, err error) {
	b := &build{image: i, at: disk.Resolve(i.Path)}
	if opts != nil {
		b.opts = *opts
	}
	if state, reason := State(i); !mustBuild(i, state) {
		return false, b.refuse(state, reason)
	}
	undo, err := makeDir(filepath.Dir(b.at))
	if err == nil {
		built, err = b.locked(ctx)
	}
	if err != nil {
		undo()
		return false, fmt.Errorf("building %q: %w", i.Path, err)
	}
	return built, nil
}

type build struct {
	image *plan.Image
	at    string // the image's path with its links resolved: a link stays one
	opts  Options
}

func mustBuild(i *plan.Image, state plan.State) bool {
	return state == plan.Absent || state == plan.Stale && !i.Direct
}

// refuse is the answer for an image that is not built.
func (b *build) refuse(state plan.State, reason string) error {
	switch state {
	case plan.Unbuildable:
		return fmt.Errorf("image %q: %s", b.image.Path, reason)
	case plan.Stale:
		b.tell(Kept, reason+", but a direct disk writes to it")
	default:
		b.tell(Kept, "")
	}
	return nil
}

func (b *build) tell(step Step, reason string) {
	if b.opts.Progress != nil {
		b.opts.Progress(Event{b.image.Path, step, reason})
	}
}

// locked builds under the lock, unless another session has meanwhile.
func (b *build) locked(ctx context.Context) (bool, error) {
	lock, err := b.lock(ctx)
	if err != nil {
		return false, err
	}
	defer lock.Remove()
	state, reason := State(b.image)
	if !mustBuild(b.image, state) {
		return false, b.refuse(state, reason)
	}
	b.tell(Building, reason)
	if err := b.replace(ctx, state); err != nil {
		return false, errors.Join(err, removeTemporary(b.at))
	}
	b.tell(Built, "")
	return true, nil
}

func (b *build) lock(ctx context.Context) (*flock.Lock, error) {
	name := b.opts.Session
	if name == "" {
		name = "unnamed"
	}
	me, err := flock.Me(name)
	if err != nil {
		return nil, err
	}
	tick := time.NewTicker(again)
	defer tick.Stop()
	for told := false; ; told = true {
		lock, err := flock.Take(b.at+lockSuffix, flock.Exclusive, me)
		var held *flock.HeldError
		if !errors.As(err, &held) {
			return lock, err
		}
		if !told {
			b.tell(Waiting, held.By()+" builds it")
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for %s, which builds it: %w", held.By(), context.Cause(ctx))
		case <-tick.C:
		}
	}
}

// replace makes the image and puts it in its place, then its stamp. A crash in between
// leaves a new image with an old stamp, which is built again.
func (b *build) replace(ctx context.Context, state plan.State) error {
	stamp, err := newStamp(b.image)
	if err != nil {
		return err
	}
	if err := removeTemporary(b.at); err != nil { // of a build that was killed
		return err
	}
	temp := temporary(b.at)
	if err := b.make(ctx, temp); err != nil {
		return err
	}
	if err := syncFile(temp); err != nil {
		return err
	}
	if err := rename(temp, b.at, state == plan.Absent); err != nil {
		return err
	}
	if err := durable.SyncDir(filepath.Dir(b.at)); err != nil {
		return err
	}
	if err := removeTemporary(b.at); err != nil { // what the recipe left beside it
		return err
	}
	return stamp.write(b.image.Path)
}

// temporary is where an image is built: a hidden file in the same directory, so that
// relative names in it stay true, with the same extension, which some tools go by.
func temporary(path string) string {
	dir, base := filepath.Split(path)
	ext := filepath.Ext(base)
	return dir + "." + strings.TrimSuffix(base, ext) + ".cosim-build" + ext
}

// removeTemporary removes the temporary file, and what tools make with its name at the
// start of theirs. The lock is held, so no other build needs them.
func removeTemporary(path string) error {
	dir, name := filepath.Split(temporary(path))
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), name) {
			errs = append(errs, os.RemoveAll(dir+e.Name()))
		}
	}
	return errors.Join(errs...)
}

func syncFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// rename puts the image in its place. Where none was there, a file that has come there
// meanwhile is the user's own and stays.
func rename(from, to string, absent bool) error {
	if !absent {
		return os.Rename(from, to)
	}
	err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) { // not every file system can
		if _, err = os.Lstat(to); errors.Is(err, fs.ErrNotExist) {
			return os.Rename(from, to)
		}
		err = unix.EEXIST
	}
	if errors.Is(err, unix.EEXIST) {
		return errors.New("a file has come into its place meanwhile, and is left as it is")
	}
	return err
}

// makeDir makes a directory and its parents. Undo removes those that it made, as far as
// they are empty.
func makeDir(dir string) (undo func(), err error) {
	var made []string
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(at); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		made = append(made, at)
	}
	undo = func() {
		for _, d := range made {
			unix.Rmdir(d)
		}
	}
	return undo, os.MkdirAll(dir, 0o755)
}
