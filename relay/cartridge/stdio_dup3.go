//go:build linux

package cartridge

import "syscall"

// duplicate makes the file descriptor to stand for what from does.
func duplicate(from, to int) error { return syscall.Dup3(from, to, 0) }
