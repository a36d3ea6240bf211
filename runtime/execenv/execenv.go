// Package execenv gathers the facts of the local host that a plan depends on.
//
// [Gather] asks system calls and reads files; it starts no process, connects to
// nothing and writes nothing. What it returns is a plain value, and everything that
// needs the host takes that value, so a test makes any host it likes.
package execenv

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/cosim-go/cosim/topology/layout"
)

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

// Options are the sources that [Gather] reads. The zero value is the process's own
// environment and the host's own files.
type Options struct {
	Getenv    func(name string) string // nil means os.Getenv; an empty value counts as unset
	WorkDir   string                   // empty means os.Getwd
	KVMDevice string                   // empty means /dev/kvm
	Passwd    string                   // passwd(5) file for the home directory where HOME is unset; empty means /etc/passwd
}

const (
	shmDir      = "/dev/shm" // shm_overview(7): where Linux mounts the tmpfs of shared memory
	fallbackDir = "/tmp"     // where sockets go without a usable XDG_RUNTIME_DIR
)

// Gather reads the facts of this host. It fails where the working directory cannot be
// told, or where neither COSIM_DISK_LOCK_DIR nor a home directory says where disk
// locks are.
func Gather(opts *Options) (ExecEnv, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	workDir, err := o.workDir()
	if err != nil {
		return ExecEnv{}, err
	}
	lockDir, err := o.diskLockDir(workDir)
	if err != nil {
		return ExecEnv{}, err
	}
	return ExecEnv{
		PageSize:    layout.Size(os.Getpagesize()),
		Path:        splitPath(o.Getenv("PATH"), workDir),
		WorkDir:     workDir,
		DiskLockDir: lockDir,
		RuntimeDir:  o.runtimeDir(),
		ShmDir:      shmDir,
		KVM:         usableKVM(or(o.KVMDevice, "/dev/kvm")),
	}, nil
}

func (o *Options) workDir() (string, error) {
	if o.WorkDir != "" {
		return filepath.Abs(o.WorkDir)
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("finding the working directory: %w", err)
	}
	return dir, nil
}

// splitPath makes PATH absolute. An empty entry means the working directory to a
// shell; it is dropped here, as exec.LookPath of Go refuses what is found there.
func splitPath(path, workDir string) []string {
	dirs := []string{}
	for _, dir := range strings.Split(path, ":") {
		if dir != "" {
			dirs = append(dirs, absolute(dir, workDir))
		}
	}
	return dirs
}

func absolute(path, workDir string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(workDir, path)
}

func or(value, fallback string) string {
	if value == "" {
		return fallback
	}
	return value
}
