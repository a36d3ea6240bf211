package supervise

import (
	"fmt"
	"io"
	"os"
)

// A logFile keeps the first and the last bytes of what is written to it. While it is
// written it holds the first keep bytes and up to twice as many of the last, so that
// what has to go is moved once for every keep bytes written, and the file always reads
// in order. A line between the two parts says how much was left out.
type logFile struct {
	file *os.File // opened for reading and writing
	keep int64
	size int64 // of the file
	lost int64 // bytes left out; 0 means that there is no such line
	err  error // the first of writing; nothing is written after it
}

// The number has a fixed width, so that the line can be written over.
const lostFormat = "\n[cosim: %15d bytes are left out here]\n"

var lostLen = int64(len(fmt.Sprintf(lostFormat, 0)))

// tailStart is where the last part begins.
func (l *logFile) tailStart() int64 {
	if l.lost > 0 {
		return l.keep + lostLen
	}
	return l.keep
}

// Write takes all of p, even where the file cannot: who writes to a log must not stop
// because its disk is full.
func (l *logFile) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 && l.err == nil {
		room := l.tailStart() + 2*l.keep - l.size
		if room <= 0 {
			l.shorten()
			continue
		}
		part := p[:min(int64(len(p)), room)]
		written, err := l.file.WriteAt(part, l.size)
		l.size += int64(written)
		l.err = err
		p = p[len(part):]
	}
	return n, nil
}

// shorten leaves only the last keep bytes of the last part.
func (l *logFile) shorten() {
	from := l.size - l.keep
	dropped := from - l.tailStart()
	l.lost += dropped
	to := l.keep + lostLen
	if _, err := l.file.WriteAt(fmt.Appendf(nil, lostFormat, l.lost), l.keep); err != nil {
		l.err = err
		return
	}
	if l.err = moveDown(l.file, to, from, l.keep); l.err != nil {
		return
	}
	l.size = to + l.keep
	l.err = l.file.Truncate(l.size)
}

// finish cuts the file to its final size, and returns the first error there was. What
// to leave out must be longer than the line that says so.
func (l *logFile) finish() error {
	if l.err == nil && l.size-l.keep > l.keep+lostLen {
		l.shorten()
	}
	return l.err
}

// moveDown moves n bytes within a file to a place nearer to its start.
func moveDown(f *os.File, to, from, n int64) error {
	buf := make([]byte, 256<<10)
	for n > 0 {
		part := buf[:min(n, int64(len(buf)))]
		if _, err := f.ReadAt(part, from); err != nil && err != io.EOF {
			return err
		}
		if _, err := f.WriteAt(part, to); err != nil {
			return err
		}
		k := int64(len(part))
		from, to, n = from+k, to+k, n-k
	}
	return nil
}
