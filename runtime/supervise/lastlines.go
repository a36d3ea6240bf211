package supervise

import (
	"io"
	"os"
	"strings"
	"unicode"
)

const (
	lastLines    = 10       // of a log, shown with a failure
	lastBytes    = 16 << 10 // read for them
	shownLineLen = 500      // in runes
)

// tailOf returns the last lines of a file that are not empty, made fit for a terminal.
// A file that cannot be read has none.
func tailOf(path string) []string {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	if fi, err := f.Stat(); err != nil || !fi.Mode().IsRegular() {
		return nil
	} else if fi.Size() > lastBytes {
		f.Seek(-lastBytes, io.SeekEnd)
	}
	data, _ := io.ReadAll(io.LimitReader(f, lastBytes))
	var lines []string
	for line := range strings.Lines(string(data)) {
		if line = shown(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines[max(0, len(lines)-lastLines):]
}

// shown drops what a terminal would act on, and the end of a long line.
func shown(line string) string {
	runes := make([]rune, 0, len(line))
	for _, r := range strings.ToValidUTF8(line, "\uFFFD") {
		if r == '\t' {
			r = ' '
		}
		if unicode.IsPrint(r) {
			runes = append(runes, r)
		}
		if len(runes) > shownLineLen {
			runes = append(runes[:shownLineLen], '…')
			break
		}
	}
	return strings.TrimSpace(string(runes))
}
