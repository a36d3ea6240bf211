package supervise

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// A pump moves what a process writes from a pipe to its log, and shows it to whoever
// matches its lines. It reads whatever comes, so that the process never waits for it.
type pump struct {
	pipe  *os.File // our end
	log   logFile
	lines *splitter // nil once nobody matches
	done  chan struct{}
	err   error // of the log; valid once done
}

// newPump opens the log and makes the pipe whose other end, theirs, the process gets.
// The caller closes theirs after the start, and calls start or discard. Each line goes to
// match, as long as that returns true; a nil match is shown none.
func newPump(path string, match func([]byte) bool) (p *pump, theirs int, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, -1, fmt.Errorf("opening its log: %w", err)
	}
	// The ends are separate: ours does not block, so that a read obeys a deadline, and
	// the process finds its own as any program expects it.
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
		f.Close()
		return nil, -1, fmt.Errorf("making the pipe to its log: %w", err)
	}
	unix.SetNonblock(ends[0], true)
	p = &pump{pipe: os.NewFile(uintptr(ends[0]), path), log: logFile{file: f, keep: logKeep}, done: make(chan struct{})}
	if match != nil {
		p.lines = &splitter{line: func(line []byte) {
			if p.lines != nil && !match(line) {
				p.lines = nil
			}
		}}
	}
	return p, ends[1], nil
}

func (p *pump) start() { go p.run() }

func (p *pump) run() {
	defer close(p.done)
	buf := make([]byte, 64<<10)
	for {
		n, err := p.pipe.Read(buf)
		p.log.Write(buf[:n])
		if lines := p.lines; lines != nil {
			lines.Write(buf[:n])
		}
		if err != nil {
			break // the end, or the deadline that finish sets
		}
	}
	if lines := p.lines; lines != nil {
		lines.flush()
	}
	p.err = p.log.finish()
	p.discard()
}

// discard closes what newPump opened.
func (p *pump) discard() {
	p.pipe.Close()
	p.log.file.Close()
}

// finish waits for the output of a process that has ended, but not for longer than a
// time: something that is no longer ours may hold the pipe.
func (p *pump) finish(limit time.Duration) error {
	p.pipe.SetReadDeadline(time.Now().Add(limit))
	<-p.done
	return p.err
}
