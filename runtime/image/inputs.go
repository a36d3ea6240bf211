package image

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cosim-go/cosim/runtime/plan"
)

// An input is one file that a recipe reads. A directory given as an input stands for
// everything in it.
type input struct {
	Path   string `json:"path"` // absolute
	Kind   kind   `json:"kind"`
	Size   int64  `json:"size"`   // bytes, of a file
	MTime  int64  `json:"mtime"`  // nanoseconds after 1970, of a file
	Digest string `json:"digest"` // SHA-256 of a file's content or a link's target
}

type kind string

const (
	file       kind = "file"
	executable kind = "executable"
	link       kind = "link" // in a directory; one that is given itself is followed
	directory  kind = "directory"
)

// sessionDir holds what sessions leave in a workspace. It changes with each session, and
// no recipe depends on it.
const sessionDir = ".cosim"

// listInputs lists the inputs of an image's recipe, each with what can be told without
// reading it, in lexical order within each.
func listInputs(i *plan.Image) ([]input, error) {
	l := &lister{image: i.Path, temporary: temporary(i.Path), seen: map[string]bool{}}
	for _, path := range i.Recipe.Inputs {
		if err := l.given(path); err != nil {
			return nil, err
		}
	}
	return l.list, nil
}

type lister struct {
	image, temporary string
	seen             map[string]bool
	list             []input
}

// given adds an input as the recipe names it.
func (l *lister) given(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("input %q is not there", path)
	}
	if err != nil {
		return fmt.Errorf("input %q cannot be looked at: %s", path, reason(err))
	}
	if !info.IsDir() {
		l.add(path, info)
		return nil
	}
	root := path + string(filepath.Separator) // follows a link to the directory
	return filepath.WalkDir(root, func(at string, entry fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("input %q cannot be looked at: %s", at, reason(err))
		}
		if l.skipped(at) {
			if entry.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil // removed meanwhile
		}
		if err != nil {
			return fmt.Errorf("input %q cannot be looked at: %s", at, reason(err))
		}
		l.add(filepath.Clean(at), info)
		return nil
	})
}

// skipped reports whether a path in a directory is no content, but a result of the
// recipe or of running cosim.
func (l *lister) skipped(path string) bool {
	return path == l.image || strings.HasPrefix(path, l.temporary) || filepath.Base(path) == sessionDir ||
		strings.HasSuffix(path, StampSuffix) || strings.HasSuffix(path, lockSuffix)
}

func (l *lister) add(path string, info fs.FileInfo) {
	if l.seen[path] {
		return
	}
	in := input{Path: path}
	switch mode := info.Mode(); {
	case mode.IsDir():
		in.Kind = directory
	case mode&fs.ModeSymlink != 0:
		in.Kind = link
	case mode.IsRegular():
		in.Kind, in.Size, in.MTime = file, info.Size(), info.ModTime().UnixNano()
		if mode&0o111 != 0 {
			in.Kind = executable
		}
	default:
		return // a socket, a pipe, a device: not content
	}
	l.seen[path] = true
	l.list = append(l.list, in)
}

// looksLike reports whether an input is as it was, as far as can be told without
// reading it.
func (in *input) looksLike(before input) bool {
	switch in.Kind {
	case directory:
		return before.Kind == directory
	case link:
		return false // its target is read faster than a time is worth
	}
	return in.Kind == before.Kind && in.Size == before.Size && in.MTime == before.MTime
}

// granularity is more than the step of the clock that file times come from: the tick of
// the kernel, 10 ms at most.
const granularity = 20 * time.Millisecond

// unsettled is how long to wait before a file is read: one that changes again within
// one step of the clock would keep its time, and the change would not be noticed.
func unsettled(mtime int64, now time.Time) time.Duration {
	if age := now.Sub(time.Unix(0, mtime)); age >= 0 && age < granularity {
		return granularity - age
	}
	return 0
}

// read completes an input with the digest of its content.
func (in *input) read() error {
	switch in.Kind {
	case directory:
		return nil
	case link:
		target, err := os.Readlink(in.Path)
		sum := sha256.Sum256([]byte(target))
		in.Digest = hex.EncodeToString(sum[:])
		return err
	}
	time.Sleep(unsettled(in.MTime, time.Now()))
	f, err := os.Open(in.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return err
	}
	in.Digest = hex.EncodeToString(sum.Sum(nil))
	return nil
}
