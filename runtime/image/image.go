// Package image tells the state of the files that processes need, and builds those that
// have a recipe: disk images, kernels, initrds, firmware.
//
// [State] looks and changes nothing. [Build] makes one image that is missing or stale,
// beside its place, and renames it when it is whole; of several sessions that want it,
// one builds.
//
// What was built has a stamp beside it, which remembers the recipe and the content of
// its inputs. A file without a stamp is the user's own and is never written to.
package image

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/cosim-go/cosim/runtime/plan"
)

// StampSuffix is what the name of an image's stamp has more.
const StampSuffix = ".cosim.json"

// State tells whether an image can be used as it is, and why, in words that are the same
// each time. Image.State and Image.Reason are not looked at. Inputs are read only where
// their size or time differs from what the stamp remembers.
func State(i *plan.Image) (plan.State, string) {
	info, err := os.Stat(i.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && i.Recipe == nil:
		return plan.Unbuildable, "not there, and without a recipe"
	case errors.Is(err, fs.ErrNotExist):
		return plan.Absent, "not there yet"
	case err != nil:
		return plan.Unbuildable, "cannot be looked at: " + reason(err)
	case info.IsDir():
		return plan.Unbuildable, "a directory, not a file"
	}
	s, err := readStamp(i.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return plan.Ready, "has no stamp: a file of the user's own"
	case i.Recipe == nil:
		return plan.Ready, "was built by a recipe that the topology no longer has"
	case err != nil:
		return plan.Stale, "its stamp cannot be read: " + reason(err)
	case s.Recipe != i.Recipe.Digest:
		return plan.Stale, "its recipe has changed"
	}
	if difference := s.compare(i); difference != "" {
		return plan.Stale, difference
	}
	return plan.Ready, "its stamp agrees"
}

// reason is an error without the path, which stands beside it.
func reason(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	return err.Error()
}

// compare says how the inputs differ from what the stamp remembers; empty where they do
// not.
func (s *stamp) compare(i *plan.Image) string {
	now, err := listInputs(i)
	if err != nil {
		return err.Error()
	}
	then := make(map[string]input, len(s.Inputs))
	for _, in := range s.Inputs {
		then[in.Path] = in
	}
	for _, in := range now {
		before, known := then[in.Path]
		if !known {
			return fmt.Sprintf("input %q is new", in.Path)
		}
		delete(then, in.Path)
		if in.looksLike(before) {
			continue
		}
		if err := in.read(); err != nil {
			return fmt.Sprintf("input %q cannot be read: %s", in.Path, reason(err))
		}
		if in.Kind != before.Kind || in.Digest != before.Digest {
			return fmt.Sprintf("input %q has changed", in.Path)
		}
	}
	for _, in := range s.Inputs { // in the stamp's order, so that the words are the same each time
		if _, left := then[in.Path]; left {
			return fmt.Sprintf("input %q is gone", in.Path)
		}
	}
	return ""
}
