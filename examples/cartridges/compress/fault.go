package main

import (
	"compress/flate"
	"compress/gzip"
	"errors"
	"io"
)

// IsGzip reports whether an error is one of the data rather than of what carries it. An empty stream is no gzip
// file either.
func isGzip(err error) bool {
	var corrupt flate.CorruptInputError
	return errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) || errors.As(err, &corrupt) ||
		err == io.EOF || err == io.ErrUnexpectedEOF
}
