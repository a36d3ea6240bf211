package flock

import (
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// note writes the holder's name into the lock file. The name is for people only: where
// it cannot be written, the lock holds all the same.
func (l *Lock) note(mode Mode) {
	if mode == Exclusive {
		rewrite(l.file, l.me.String()+"\n")
		return
	}
	l.edit(func(lines []string) []string { return append(lines, l.me.String()) })
}

func (l *Lock) forget() {
	if l.file == nil {
		return
	}
	l.edit(func(lines []string) []string {
		if i := slices.Index(lines, l.me.String()); i >= 0 {
			return slices.Delete(lines, i, i+1)
		}
		return lines
	})
}

// edit changes the lines of the living holders. Those of a shared lock edit one after
// the other: an open file description lock (fcntl(2)), which flock does not see, keeps
// them apart.
func (l *Lock) edit(change func(lines []string) []string) {
	whole := unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart}
	fd := l.file.Fd()
	if unix.FcntlFlock(fd, unix.F_OFD_SETLKW, &whole) == nil {
		defer func() {
			whole.Type = unix.F_UNLCK
			unix.FcntlFlock(fd, unix.F_OFD_SETLK, &whole)
		}()
	}
	var lines []string
	for _, h := range living(content(l.file)) {
		lines = append(lines, h.String())
	}
	text := ""
	if lines = change(lines); len(lines) > 0 {
		text = strings.Join(lines, "\n") + "\n"
	}
	rewrite(l.file, text)
}

// rewrite puts the new text in before it cuts the old one off, so that a reader finds a
// name at any time.
func rewrite(file *os.File, text string) {
	if _, err := file.WriteAt([]byte(text), 0); err == nil {
		file.Truncate(int64(len(text)))
	}
}

// content reads what is in a lock file; no more than some thousand holders are of use.
func content(file *os.File) string {
	text, _ := io.ReadAll(io.NewSectionReader(file, 0, 1<<18))
	return string(text)
}
