package tool

import (
	"bytes"
	"io"
	"strings"
)

// What an error shows of a program's output.
const (
	tailLines = 10
	tailBytes = 4096
)

// A tail passes output on and keeps its end. It takes everything, so that the program
// is not held up where nobody wants its output any more.
type tail struct {
	next io.Writer // may be nil
	err  error     // of next, which gets no more then
	end  []byte    // at most twice tailBytes
}

func (t *tail) Write(b []byte) (int, error) {
	t.end = append(t.end, b[max(0, len(b)-tailBytes):]...)
	if cut := len(t.end) - tailBytes; cut > tailBytes {
		t.end = append(t.end[:0], t.end[cut:]...)
	}
	if t.next != nil && t.err == nil {
		_, t.err = t.next.Write(b)
	}
	return len(b), nil
}

// lines gives the last lines, empty ones at the end left out.
func (t *tail) lines() []string {
	end := t.end
	if cut := len(end) - tailBytes; cut > 0 {
		end = end[cut:]
		if i := bytes.IndexByte(end, '\n'); i >= 0 {
			end = end[i+1:] // the first line is not whole
		}
	}
	text := strings.TrimRight(strings.ToValidUTF8(string(end), "\uFFFD"), "\r\n\t ")
	if text == "" {
		return nil
	}
	lines := strings.Split(text, "\n")
	return lines[max(0, len(lines)-tailLines):]
}
