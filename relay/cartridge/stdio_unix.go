//go:build unix

package cartridge

import (
	"fmt"
	"os"
	"syscall"
)

// takeStdio takes over standard input and output. Whoever else uses them, also by number, or in processes that it
// starts, reads nothing and writes to standard error.
func takeStdio() (*stdio, error) {
	in, err := takeOver(os.Stdin)
	if err != nil {
		return nil, fmt.Errorf("standard input: %w", err)
	}
	out, err := takeOver(os.Stdout)
	if err != nil {
		return nil, fmt.Errorf("standard output: %w", err)
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	if err := duplicate(int(null.Fd()), syscall.Stdin); err != nil {
		return nil, fmt.Errorf("standard input: %w", err)
	}
	if err := duplicate(syscall.Stderr, syscall.Stdout); err != nil {
		return nil, fmt.Errorf("standard output: %w", err)
	}
	os.Stdout = os.Stderr
	return &stdio{in, out}, nil
}

// takeOver returns a file of its own for what a standard one stands for. It does not block, so that closing it ends a
// Read; processes that are started do not get it.
func takeOver(f *os.File) (*os.File, error) {
	syscall.ForkLock.RLock()
	fd, err := syscall.Dup(int(f.Fd()))
	if err == nil {
		syscall.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, err
	}
	if err := syscall.SetNonblock(fd, true); err != nil {
		syscall.Close(fd)
		return nil, err
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}
