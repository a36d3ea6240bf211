package proc

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// Kill ends the process with SIGKILL and waits until it is gone, at most as long as
// given. Where ours says no, asked after the process can no longer be mistaken for
// another one, it is left alone and Kill returns false.
func (id ID) Kill(patience time.Duration, ours func() bool) (killed bool, err error) {
	fd, err := unix.PidfdOpen(id.PID, 0)
	if errors.Is(err, unix.ESRCH) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer unix.Close(fd)
	if now, err := Lookup(id.PID); err != nil || now != id || !ours() {
		return false, nil
	}
	if err := unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0); errors.Is(err, unix.ESRCH) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	return true, wait(fd, patience)
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
	return wait(fd, patience)
}

// ErrStays is returned for a process that does not end in time.
var ErrStays = errors.New("the process does not end")

// wait returns when the process of a pidfd has ended: it is readable then.
func wait(pidfd int, patience time.Duration) error {
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
