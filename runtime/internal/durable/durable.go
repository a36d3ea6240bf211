// Package durable replaces files as a whole: a reader finds the old content or the new
// one, also after a crash of the host.
package durable

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Suffix is what a file's name has more while it is written. Only one process may
// write a file at a time; a rest of one that was killed is written over.
const Suffix = ".tmp"

// Write replaces the file at path by what write writes, with mode 0600 less the umask.
// Its directory must be safe from other users.
func Write(path string, write func(io.Writer) error) (err error) {
	temp := path + Suffix
	file, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(temp)
			err = fmt.Errorf("writing %q: %w", path, err)
		}
	}()
	buffered := bufio.NewWriterSize(file, 1<<16)
	if err = write(buffered); err == nil {
		err = buffered.Flush()
	}
	if err == nil {
		err = file.Sync()
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	if err = os.Rename(temp, path); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// SyncDir makes the names in a directory durable.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
