package supervise

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// An input reads from a terminal in a way that can be ended. A blocking read from a
// terminal cannot, so it polls the file together with a pipe that close ends.
type input struct {
	io.Reader
	file *os.File // nil where the input is not a file
	wake [2]int
	done chan struct{} // closed by whoever reads, when it reads no more
}

func newInput(in io.Reader) (*input, error) {
	i := &input{Reader: in, done: make(chan struct{})}
	file, ok := in.(*os.File)
	if !ok {
		return i, nil
	}
	if err := unix.Pipe2(i.wake[:], unix.O_CLOEXEC); err != nil {
		return nil, err
	}
	i.file = file
	return i, nil
}

// Read reads from the file once there is something to read.
func (i *input) Read(p []byte) (int, error) {
	if i.file == nil {
		return i.Reader.Read(p)
	}
	fds := []unix.PollFd{{Fd: int32(i.file.Fd()), Events: unix.POLLIN}, {Fd: int32(i.wake[0]), Events: unix.POLLIN}}
	for {
		_, err := unix.Poll(fds, -1)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return 0, err
		}
		if fds[1].Revents != 0 {
			return 0, io.EOF
		}
		return i.file.Read(p)
	}
}

// close ends a read from a file, and waits for its reader.
func (i *input) close() {
	if i.file == nil {
		return
	}
	unix.Close(i.wake[1])
	<-i.done
	unix.Close(i.wake[0])
}
