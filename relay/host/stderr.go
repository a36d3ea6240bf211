package host

import (
	"bytes"
	"strings"
	"sync"
)

const (
	stderrKept = 2000    // bytes of standard error that go into the message of a death
	lineKept   = 8 << 10 // bytes of a line that is logged

	truncated = "[...]" // stands for what came before
)

// A stderr takes what a process writes to standard error: line by line into a log, and its end for later.
type stderr struct {
	log func(line []byte)

	line []byte // that has not ended yet
	skip bool   // the rest of it

	mu   sync.Mutex
	kept []byte // the end, at most twice stderrKept
	more bool   // something was before
}

func newStderr(log func([]byte)) *stderr { return &stderr{log: log} }

// Write takes all of p. It belongs to one goroutine.
func (s *stderr) Write(p []byte) (int, error) {
	s.keep(p)
	for rest := p; len(rest) > 0; {
		piece, after, ended := bytes.Cut(rest, []byte{'\n'})
		if room := lineKept - len(s.line); !s.skip {
			s.line = append(s.line, piece[:min(len(piece), room)]...)
			s.skip = len(piece) > room
		}
		if ended {
			s.end()
		}
		rest = after
	}
	return len(p), nil
}

// end logs the line that has begun.
func (s *stderr) end() {
	if len(s.line) > 0 {
		s.log(s.line)
	}
	s.line, s.skip = s.line[:0], false
}

func (s *stderr) keep(p []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(p) > stderrKept {
		p, s.kept, s.more = p[len(p)-stderrKept:], s.kept[:0], true
	}
	if s.kept = append(s.kept, p...); len(s.kept) > 2*stderrKept {
		s.kept = append(s.kept[:0], s.kept[len(s.kept)-stderrKept:]...)
		s.more = true
	}
}

// tail returns the end of what was written, with a mark in front when that is not all.
func (s *stderr) tail() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept, more := s.kept, s.more
	if len(kept) > stderrKept {
		kept, more = kept[len(kept)-stderrKept:], true
	}
	text := strings.ToValidUTF8(string(kept), "\uFFFD")
	if more {
		text = truncated + text
	}
	return text
}
