package main

import (
	"bytes"
	"io"
	"os"
	"regexp"

	"golang.org/x/term"
)

// above gives a writer for what is to stand above the live lines, where the writer is
// the terminal too; else it gives the writer as it is. Closing it writes what is left,
// and does not close the writer.
func (d *display) above(w io.Writer) io.WriteCloser {
	if f, ok := w.(*os.File); !d.live || !ok || !term.IsTerminal(int(f.Fd())) {
		return nopCloser{w}
	}
	return &scroll{display: d, w: w}
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// A scroll writes whole lines above the live ones.
type scroll struct {
	display *display
	w       io.Writer
	rest    []byte // of a line that has not ended
}

// maxRest is the longest part of a line that waits for its end.
const maxRest = 4096

func (s *scroll) Write(p []byte) (int, error) {
	s.rest = append(s.rest, p...)
	end := bytes.LastIndexByte(s.rest, '\n') + 1
	if end == 0 && len(s.rest) < maxRest {
		return len(p), nil
	} else if end == 0 {
		end = len(s.rest)
	}
	err := s.lines(s.rest[:end])
	s.rest = append([]byte(nil), s.rest[end:]...)
	return len(p), err
}

func (s *scroll) Close() error {
	if len(s.rest) == 0 {
		return nil
	}
	defer func() { s.rest = nil }()
	return s.lines(s.rest)
}

// escapes are the sequences with which a guest moves the cursor and sets colours
// (ECMA-48, sections 5.3 and 5.4).
var escapes = regexp.MustCompile(`\x1b(\[[0-?]*[ -/]*[@-~]|[ -/]*[0-~])`)

func (s *scroll) lines(text []byte) error {
	var out bytes.Buffer
	for line := range bytes.Lines(escapes.ReplaceAll(text, nil)) {
		out.WriteString(clean(string(bytes.TrimRight(line, "\r\n"))) + "\n")
	}
	d := s.display
	d.mu.Lock()
	defer d.mu.Unlock()
	d.erase()
	_, err := s.w.Write(out.Bytes())
	d.draw()
	return err
}
