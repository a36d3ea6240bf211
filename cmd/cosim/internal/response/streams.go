package response

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/caps"
)

// Streams writes the streams of a response, each to a place of its own. It is not safe for concurrent use.
type Streams struct {
	place func(n int, s *call.Stream) (io.WriteCloser, error)
	count int
	open  map[*call.Stream]io.WriteCloser
}

// A SeveralError says that a response has more streams than there are places.
type SeveralError struct{ Media string }

// Error says what the stream is for which there is no place.
func (e *SeveralError) Error() string {
	return fmt.Sprintf("the response has another stream, of %s", e.Media)
}

// A PlaceError says that a place for a stream cannot be made or written to.
type PlaceError struct{ Err error }

// Error says what is wrong.
func (e *PlaceError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong.
func (e *PlaceError) Unwrap() error { return e.Err }

// To returns Streams that write a response of one stream to w.
func To(w io.Writer) *Streams {
	return &Streams{place: only(func() (io.WriteCloser, error) { return unclosed{w}, nil })}
}

type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

// ToFile returns Streams that write a response of one stream to a file, which is made, or emptied, when the stream begins.
// It is left as it is when it is one of spared.
func ToFile(path string, spared ...fs.FileInfo) *Streams {
	return &Streams{place: only(func() (io.WriteCloser, error) { return create(path, spared) })}
}

// ErrSpared says that a response would overwrite a file that is read.
var ErrSpared = errors.New("it is read as an argument")

// create makes a file or empties it, unless it is one of spared. It is opened for writing alone: a pipe that is open for
// reading too would take what nobody reads.
func create(path string, spared []fs.FileInfo) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	for _, other := range spared {
		if err == nil && os.SameFile(info, other) {
			err = &fs.PathError{Op: "open", Path: path, Err: ErrSpared}
		}
	}
	if err == nil && info.Mode().IsRegular() {
		err = file.Truncate(0)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

func only(open func() (io.WriteCloser, error)) func(int, *call.Stream) (io.WriteCloser, error) {
	return func(n int, s *call.Stream) (io.WriteCloser, error) {
		if n > 1 {
			return nil, &SeveralError{s.Media}
		}
		return open()
	}
}

// ToDirectory returns Streams that write each stream to a file in a directory, which has to be there. Its name is the
// number of the stream, in the order in which they begin, with what its media URN has for ext: 1, 2.pdf. A file that is one of
// spared is left as it is.
func ToDirectory(path string, spared ...fs.FileInfo) *Streams {
	return &Streams{place: func(n int, s *call.Stream) (io.WriteCloser, error) {
		return create(filepath.Join(path, fileName(n, s.Media)), spared)
	}}
}

// maxExt is how many characters of an extension count.
const maxExt = 16

func fileName(n int, media string) string {
	name := strconv.Itoa(n)
	urn, err := caps.ParseMedia(media)
	if err != nil {
		return name
	}
	for t := range urn.Tags() {
		plain := strings.Trim(t.Value, "abcdefghijklmnopqrstuvwxyz0123456789") == ""
		if t.Key == "ext" && t.Form == caps.FormExactly && plain && len(t.Value) <= maxExt {
			return name + "." + t.Value
		}
	}
	return name
}

// Event takes an event of the response. What belongs to no stream is passed over.
func (s *Streams) Event(e *call.Event) error {
	switch e.Kind {
	case call.EventStart:
		s.count++
		w, err := s.place(s.count, e.Stream)
		if err != nil {
			return placeError(err)
		}
		if s.open == nil {
			s.open = map[*call.Stream]io.WriteCloser{}
		}
		s.open[e.Stream] = w
	case call.EventData:
		_, err := s.open[e.Stream].Write(e.Data)
		return placeError(err)
	case call.EventItem:
		_, err := s.open[e.Stream].Write(itemBytes(e.Item.CBOR))
		return placeError(err)
	case call.EventEnd:
		w := s.open[e.Stream]
		delete(s.open, e.Stream)
		return placeError(w.Close())
	}
	return nil
}

func placeError(err error) error {
	var several *SeveralError
	if err == nil || errors.As(err, &several) {
		return err
	}
	return &PlaceError{err}
}

// Close closes the files of streams that have not ended.
func (s *Streams) Close() error {
	var all []error
	for _, w := range s.open {
		all = append(all, w.Close())
	}
	s.open = nil
	return errors.Join(all...)
}
