//go:build unix

package outbox_test

import (
	"io"
	"os"
	"runtime"
	"syscall"
	"testing"

	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/internal/outbox"
	"github.com/cosim-go/cosim/relay/relaytest"
)

// Sockets and pipes take what fits from whoever flushes: when Flush returns it can be read, and
// no goroutine was started.
func TestFlushWritesToADescriptorByItself(t *testing.T) {
	for name, open := range map[string]func() (relaytest.Conn, relaytest.Conn, error){
		"socket": relaytest.SocketPair,
		"files":  relaytest.FilePipes,
		"buffered": func() (relaytest.Conn, relaytest.Conn, error) {
			near, far := relaytest.BufferedPipe(64 << 10)
			return near, far, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			near, far, err := open()
			if err != nil {
				t.Fatal(err)
			}
			defer far.Close()
			o := outbox.New(near, nil)
			defer o.Close()
			before := runtime.NumGoroutine()
			buf := make([]byte, 64<<10)
			for range 100 {
				if err := o.Send(log(frame.Number(1), 1000)); err != nil {
					t.Fatal(err)
				}
				queued := o.Queued()
				o.Flush()
				if n := o.Queued(); n != 0 {
					t.Fatalf("Queued = %d after Flush", n)
				}
				if n, err := far.Read(buf); n != queued || err != nil {
					t.Fatalf("Read = %d, %v, want %d", n, err, queued)
				}
			}
			if n := runtime.NumGoroutine(); n > before {
				t.Errorf("%d goroutines, %d before", n, before)
			}
		})
	}
}

// blockingPipe returns a pipe that the runtime does not poll, such as a process inherits.
func blockingPipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	var fds [2]int
	syscall.ForkLock.RLock()
	err := syscall.Pipe(fds[:])
	if err == nil {
		syscall.CloseOnExec(fds[0])
		syscall.CloseOnExec(fds[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
	return os.NewFile(uintptr(fds[0]), "r"), os.NewFile(uintptr(fds[1]), "w")
}

func TestAPipeThatIsNotPolledIsLeftToAGoroutine(t *testing.T) {
	relaytest.NoLeaks(t)
	r, w := blockingPipe(t)
	defer r.Close()
	o := outbox.New(w, &outbox.Options{Number: true})
	fill(t, o) // would wait for ever if it wrote
	go func() {
		if err := o.Finish(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	for i, f := range readAll(t, r) {
		if f.Seq != uint64(i) {
			t.Fatalf("frame %d has number %d", i, f.Seq)
		}
	}
}

// Nothing ends a write to such a pipe but its reader, so Close must not wait for it.
func TestCloseDoesNotWaitForAPipeThatIsNotPolled(t *testing.T) {
	relaytest.NoLeaks(t)
	r, w := blockingPipe(t)
	o := outbox.New(w, nil)
	fill(t, o)
	if err := o.Close(); err != nil {
		t.Error(err)
	}
	if _, err := io.Copy(io.Discard, r); err != nil { // ends when the write has
		t.Error(err)
	}
	r.Close()
}

// wrapped is a socket whose Write has a say in what is written.
type wrapped struct {
	relaytest.Conn
	writes int
}

func (w *wrapped) Write(p []byte) (int, error) {
	w.writes++
	return w.Conn.Write(p)
}

func TestALinkOverASocketIsNotPassedBy(t *testing.T) {
	near, far, err := relaytest.SocketPair()
	if err != nil {
		t.Fatal(err)
	}
	defer far.Close()
	w := &wrapped{Conn: near}
	o := outbox.New(w, nil)
	if err := o.Send(log(frame.Number(1), 10)); err != nil {
		t.Fatal(err)
	}
	if err := o.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := len(readAll(t, far)); n != 1 || w.writes == 0 {
		t.Errorf("%d frames, %d writes", n, w.writes)
	}
}
