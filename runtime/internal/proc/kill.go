package proc

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Kill sends SIGKILL to the process and waits until it is gone, at most as long as given;
// without patience it does not wait. Where ours says no, asked after the process can no
// longer be mistaken for another one, it is left alone and Kill returns false.
func (id ID) Kill(patience time.Duration, ours func() bool) (killed bool, err error) {
	handle, err := os.FindProcess(id.PID)
	if err != nil {
		return false, err
	}
	defer handle.Release()
	wait := func() error { return nil }
	if patience > 0 {
		fd, err := unix.PidfdOpen(id.PID, 0)
		if errors.Is(err, unix.ESRCH) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		defer unix.Close(fd)
		wait = func() error { return await(fd, patience) }
	}
	if now, err := Lookup(id.PID); err != nil || now != id || !ours() {
		return false, nil
	}
	if err := handle.Signal(os.Kill); errors.Is(err, os.ErrProcessDone) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	return true, wait()
}

// Wait returns when the process has ended, or with [ErrStays] after the patience.
func (id ID) Wait(patience time.Duration) error {
	fd, err := unix.PidfdOpen(id.PID, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if !id.Alive() {
		return nil
	}
	return await(fd, patience)
}

// ErrStays is returned for a process that does not end in time.
var ErrStays = errors.New("the process does not end")

// await returns when the process of a pidfd has ended: it is readable then.
func await(pidfd int, patience time.Duration) error {
	deadline := time.Now().Add(patience)
	for {
		left := max(time.Until(deadline), 0)
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}, int(left.Milliseconds()))
		switch {
		case err != nil && !errors.Is(err, unix.EINTR):
			return err
		case n > 0:
			return nil
		case left == 0:
			return ErrStays
		}
	}
}
