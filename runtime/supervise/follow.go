package supervise

import (
	"context"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// A follower reads a file that another process appends to, from its start. The file
// need not exist yet; one that became shorter is read from its start again.
type follower struct {
	path string
	file *os.File // nil until it exists
	off  int64
}

// copyTo writes what is new to w.
func (f *follower) copyTo(w io.Writer) error {
	if f.file == nil {
		file, err := os.OpenFile(f.path, os.O_RDONLY|unix.O_NONBLOCK, 0) // a pipe must not hold us
		if err != nil {
			return nil // not there yet
		}
		f.file = file
	}
	fi, err := f.file.Stat()
	if err != nil {
		return err
	}
	if fi.Size() < f.off {
		f.off = 0
	}
	n, err := io.Copy(w, io.NewSectionReader(f.file, f.off, fi.Size()-f.off))
	f.off += n
	return err
}

func (f *follower) close() {
	if f.file != nil {
		f.file.Close()
	}
}

// followFile writes to w what is appended to a file until the context ends, and then
// what is left.
func followFile(ctx context.Context, path string, pause time.Duration, w io.Writer) error {
	f := &follower{path: path}
	defer f.close()
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return f.copyTo(w)
		case <-tick.C:
			if err := f.copyTo(w); err != nil {
				return err
			}
		}
	}
}
