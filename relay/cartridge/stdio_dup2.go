//go:build unix && !linux

package cartridge

import "syscall"

// duplicate makes the file descriptor to stand for what from does.
func duplicate(from, to int) error { return syscall.Dup2(from, to) }
