package supervise

import "bytes"

// A splitter cuts what is written to it into lines. A line ends with \n; carriage
// returns before it do not belong to the line. Of a long line the first lineKeep bytes
// are kept.
type splitter struct {
	line    func([]byte) // called with each line, which is valid during the call only
	partial []byte
}

// Write never fails.
func (s *splitter) Write(p []byte) (int, error) {
	n := len(p)
	for {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			s.keep(p)
			return n, nil
		}
		if len(s.partial) == 0 && i <= lineKeep {
			s.line(bytes.TrimRight(p[:i], "\r"))
		} else {
			s.keep(p[:i])
			s.flush()
		}
		p = p[i+1:]
	}
}

func (s *splitter) keep(p []byte) {
	s.partial = append(s.partial, p[:min(len(p), lineKeep-len(s.partial))]...)
}

// flush ends the line that has no end, if there is one.
func (s *splitter) flush() {
	if len(s.partial) > 0 {
		s.line(bytes.TrimRight(s.partial, "\r"))
		s.partial = s.partial[:0]
	}
}
