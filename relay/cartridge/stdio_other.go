//go:build !unix

package cartridge

import "os"

// takeStdio takes over standard input and output.
func takeStdio() (*stdio, error) {
	s := &stdio{os.Stdin, os.Stdout}
	os.Stdout = os.Stderr
	return s, nil
}
