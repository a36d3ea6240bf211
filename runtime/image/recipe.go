package image

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cosim-go/cosim/runtime/internal/tool"
)

// make does what the recipe says; the image is at temp then.
func (b *build) make(ctx context.Context, temp string) error {
	r := b.image.Recipe
	switch {
	case r.Size == 0:
		return b.program(ctx, temp)
	case b.image.Format == "qcow2":
		return tool.Run(ctx, tool.Command{Path: r.Tool, Args: []string{
			"create", "-q", "-f", "qcow2", temp, strconv.FormatUint(uint64(r.Size), 10),
		}})
	}
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, 0o644)
	if err != nil {
		return err
	}
	return errors.Join(f.Truncate(int64(r.Size)), f.Close())
}

// program runs the recipe's program.
func (b *build) program(ctx context.Context, temp string) error {
	r := b.image.Recipe
	if !filepath.IsAbs(r.Program) {
		return fmt.Errorf("the plan was made while the image needed no building, and does not say where %q is: make a new one", r.Program)
	}
	limit, err := time.ParseDuration(r.Timeout)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("it took longer than %s, the timeout of the recipe", r.Timeout))
	defer cancel()
	err = tool.Run(ctx, tool.Command{Path: r.Program, Args: r.Args, Dir: r.Dir, Env: b.env(temp), Output: b.opts.Output})
	if err != nil {
		return err
	}
	info, err := os.Lstat(temp)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s ended well, but wrote nothing to $COSIM_IMAGE", r.Program)
	case err == nil && !info.Mode().IsRegular():
		return fmt.Errorf("%s did not write a regular file to $COSIM_IMAGE", r.Program)
	}
	return err
}

// env has the recipe's own variables first, so that they cannot hide those of ours.
func (b *build) env(temp string) []string {
	var env []string
	for _, name := range slices.Sorted(maps.Keys(b.image.Recipe.Env)) {
		env = append(env, name+"="+b.image.Recipe.Env[name])
	}
	env = append(env, b.opts.Env...)
	return append(env, "COSIM_IMAGE="+temp, "COSIM_WORKSPACE="+b.opts.Workspace)
}
