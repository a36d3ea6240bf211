package host

import (
	"context"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// Program returns the provider of a program that s starts; nil is Exec. What the program writes to standard error goes to
// the host's log, and its end into what is said about the death of the cartridge.
func Program(s Starter, c Command) Provider {
	if s == nil {
		s = Exec
	}
	return &program{s, c}
}

type program struct {
	starter Starter
	command Command
}

// A lineOpener is a provider of cartridges that have lines to log.
type lineOpener interface {
	openLines(ctx context.Context, pid func(int), line func([]byte)) (Link, error)
}

func (p *program) Open(ctx context.Context) (Link, error) {
	return p.openLines(ctx, func(int) {}, func([]byte) {})
}

// openLines opens the program. line is called with each line of its standard error, after pid with its id.
func (p *program) openLines(ctx context.Context, pid func(int), line func([]byte)) (Link, error) {
	proc, err := p.starter.Start(ctx, p.command)
	if err != nil {
		return nil, err
	}
	pid(proc.PID())
	l := &programLink{
		proc: proc, in: proc.Stdin(), out: proc.Stdout(), errs: newStderr(line),
		done: make(chan struct{}), outEnded: make(chan struct{}),
	}
	l.closeOut = sync.OnceValue(l.out.Close)
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		io.Copy(l.errs, proc.Stderr())
		l.errs.end()
	}()
	go l.watch(drained)
	return l, nil
}

// A programLink is the link of a process.
type programLink struct {
	proc     Process
	in       io.WriteCloser
	out      io.ReadCloser
	closeOut func() error
	errs     *stderr
	done     chan struct{}
	exit     Exit // valid once done is closed

	reads    atomic.Uint64 // how many have brought something
	reading  atomic.Bool
	killed   atomic.Bool
	cut      atomic.Bool   // the output was closed here
	outOnce  sync.Once     // for outEnded
	outEnded chan struct{} // closed once a Read failed
}

func (l *programLink) Read(p []byte) (int, error) {
	l.reading.Store(true)
	n, err := l.out.Read(p)
	l.reading.Store(false)
	if n > 0 {
		l.reads.Add(1)
	}
	if err != nil {
		if l.cut.Load() {
			err = io.EOF
		}
		l.outOnce.Do(func() { close(l.outEnded) })
	}
	return n, err
}

func (l *programLink) Write(p []byte) (int, error) { return l.in.Write(p) }
func (l *programLink) Close() error                { return l.in.Close() }
func (l *programLink) WriteSide() io.WriteCloser   { return l.in }
func (l *programLink) Done() <-chan struct{}       { return l.done }
func (l *programLink) Exit() Exit                  { return l.exit }
func (l *programLink) PID() int                    { return l.proc.PID() }

// Kill kills the process. One that does not end for it loses its output all the same.
func (l *programLink) Kill() error {
	if !l.killed.Swap(true) {
		time.AfterFunc(killLimit, l.cutOut)
	}
	return l.proc.Kill()
}

func (l *programLink) cutOut() {
	l.cut.Store(true)
	l.closeOut()
}

// watch waits for the end of the process, and ends what is left of it.
func (l *programLink) watch(drained <-chan struct{}) {
	state, err := l.proc.Wait()
	l.proc.Kill()
	select {
	case <-drained:
	case <-time.After(exitGrace): // something that escaped holds the pipe
	}
	l.proc.Stderr().Close()
	<-drained
	l.exit = Exit{ExitState: state, Err: err, Stderr: l.errs.tail()}
	close(l.done)
	l.linger()
}

// linger closes the output of a process that has ended: when it was read; when nobody reads it any more; or when nothing comes
// any more, because something that escaped holds the pipe.
func (l *programLink) linger() {
	defer l.cutOut()
	const often = 20 // looks in exitGrace
	tick := time.NewTicker(exitGrace / often)
	defer tick.Stop()
	last, quiet := l.reads.Load(), 0
	for range often * int(killLimit/exitGrace) {
		select {
		case <-l.outEnded:
			return
		case <-tick.C:
		}
		reads, reading := l.reads.Load(), l.reading.Load()
		switch {
		case reads != last:
			last, quiet = reads, 0
		case l.killed.Load() && !reading:
			return
		case reading:
			quiet++
		}
		if quiet == often {
			return
		}
	}
}
