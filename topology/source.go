package topology

import (
	"io/fs"
	"path"
)

// A Source answers paths with documents. It is the only way by which this package
// reads anything.
//
// Open returns an error that is [fs.ErrNotExist] where there is no such file; any
// other error means that there is one that cannot be read. Paths use slashes. Open is
// called from one goroutine at a time.
type Source interface {
	Open(path string) (Document, error)
}

// A Document is one file's content.
type Document struct {
	Data      []byte // must not change afterwards
	Canonical string // equal for the same file, however it was reached; empty means the path
}

// FromFS makes a Source of a file system. Such a source knows neither ".." above its
// root nor absolute paths: both do not exist in it.
func FromFS(fsys fs.FS) Source { return fsSource{fsys} }

type fsSource struct{ fsys fs.FS }

func (s fsSource) Open(name string) (Document, error) {
	name = path.Clean(name)
	if !fs.ValidPath(name) {
		return Document{}, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	data, err := fs.ReadFile(s.fsys, name)
	return Document{Data: data, Canonical: name}, err
}

// Options change how [Load] works. The zero value, and nil, mean the documented defaults.
type Options struct {
	// Resources are the directories that an import path is resolved against after
	// the importing file's own, in order. None by default.
	Resources []string

	// Kinds are the built-in kinds. None by default.
	Kinds []*Kind
}
