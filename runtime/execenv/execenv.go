// Package execenv gathers the facts of the local host that a plan depends on.
package execenv

import "github.com/cosim-go/cosim/topology/layout"

// An ExecEnv is the host as a plan sees it. It is a plain value: a test makes any
// host it likes.
type ExecEnv struct {
	PageSize    layout.Size // bytes
	Path        []string    // absolute directories, in the order of PATH
	WorkDir     string      // absolute; what a relative path on the command line means
	DiskLockDir string      // absolute
	RuntimeDir  string      // absolute; for sockets whose path in the run directory is too long
	ShmDir      string      // absolute; where pools live
	KVM         bool        // /dev/kvm can be opened and makes a VM
}
