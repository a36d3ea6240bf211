package main

import (
	"os"

	"github.com/cosim-go/cosim/runtime/disk"
	"github.com/cosim-go/cosim/runtime/execenv"
	"github.com/cosim-go/cosim/runtime/image"
	"github.com/cosim-go/cosim/runtime/plan"
)

// A host answers what a plan has to know of this host's files. It only looks.
type host struct {
	env execenv.ExecEnv
}

// LookPath implements plan.Host.
func (h host) LookPath(name string) (path string, lookedIn []string, ok bool) {
	return h.env.LookPath(name)
}

// Exists implements plan.Host.
func (h host) Exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Resolve implements plan.Host.
func (h host) Resolve(path string) string { return disk.Resolve(path) }

// ImageState implements plan.Host.
func (h host) ImageState(workspace string, i plan.Image) (plan.State, string) {
	return image.State(&i)
}
