package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/cosim-go/cosim/resources"
	"github.com/cosim-go/cosim/topology"
	"github.com/cosim-go/cosim/topology/schema"
)

const (
	builtinDir = "<builtin>" // how the files of the built-in library are shown
	stdinName  = "<stdin>"   // how a topology from standard input is shown
)

// A fileSource reads the documents of a topology from the host's files, standard
// input and the built-in library.
type fileSource struct {
	stdin []byte
}

// Open implements topology.Source.
func (s fileSource) Open(path string) (topology.Document, error) {
	if path == stdinName {
		return topology.Document{Data: s.stdin, Canonical: stdinName}, nil
	}
	if rest, ok := strings.CutPrefix(path, builtinDir+"/"); ok {
		data, err := fs.ReadFile(resources.FS, rest)
		if errors.Is(err, fs.ErrInvalid) { // a path out of the library
			err = fs.ErrNotExist
		}
		return topology.Document{Data: data, Canonical: path}, err
	}
	return openFile(path)
}

func openFile(path string) (topology.Document, error) {
	f, err := os.Open(path)
	if err != nil {
		return topology.Document{}, plainError(err)
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return topology.Document{}, errors.New("it is a directory")
	}
	data, err := readLimited(f)
	if err != nil {
		return topology.Document{}, plainError(err)
	}
	canonical, err := filepath.EvalSymlinks(path)
	if err == nil {
		canonical, err = filepath.Abs(canonical)
	}
	if err != nil { // a pipe such as /dev/fd/63 has no path of its own
		canonical = path
	}
	return topology.Document{Data: data, Canonical: canonical}, nil
}

// readLimited reads one byte more than a document may hold, so that the loader sees
// that there is too much, however much there is.
func readLimited(r io.Reader) ([]byte, error) {
	return io.ReadAll(io.LimitReader(r, schema.MaxFile+1))
}

// plainError drops the operation and the path, which the message names already.
func plainError(err error) error {
	var path *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fs.ErrNotExist
	case errors.As(err, &path):
		return fmt.Errorf("%w", path.Err)
	}
	return err
}
