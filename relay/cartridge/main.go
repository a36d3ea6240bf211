package cartridge

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
)

// Main serves the host that started this program, over standard input and output, and then exits with status 0, or 1
// after an error, which it prints. It never returns.
//
// In the meantime os.Stdout is standard error, so that what handlers print does no harm, and os.Stdin is empty. A
// program that was started with arguments, or by a person at a terminal, prints what it is instead: its manifest for
// the argument manifest, and else a help.
func (c *Cartridge) Main() {
	os.Exit(c.main(os.Args[1:]))
}

func (c *Cartridge) main(args []string) (status int) {
	if err := c.Err(); err != nil {
		return c.complain(err)
	}
	switch {
	case len(args) == 1 && args[0] == "manifest":
		m := c.Manifest()
		fmt.Printf("%s\n", m.AppendJSON(nil))
		return 0
	case len(args) > 0:
		c.help(os.Stdout)
		if isHelp(args[0]) {
			return 0
		}
		return 2
	case isTerminal(os.Stdin) && isTerminal(os.Stdout):
		c.help(os.Stderr)
		return 2
	}
	conn, err := takeStdio()
	if err != nil {
		return c.complain(err)
	}
	if c.o.Logger.Handler() == slog.DiscardHandler {
		c.o.Logger = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	if err := c.Serve(context.Background(), conn); err != nil {
		return c.complain(err)
	}
	return 0
}

func (c *Cartridge) complain(err error) (status int) {
	fmt.Fprintf(os.Stderr, "%s: %v\n", c.name, err)
	return 1
}

func isHelp(arg string) bool {
	switch strings.TrimLeft(arg, "-") {
	case "h", "help":
		return true
	}
	return false
}

// isTerminal reports whether f is a device such as a terminal, and not a pipe, socket or file.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// help prints what the program is, for people.
func (c *Cartridge) help(w io.Writer) {
	fmt.Fprintf(w, "%s %s is a cartridge: a host starts it, without arguments, and speaks frames with it.\n", c.name, c.version)
	if c.o.Description != "" {
		fmt.Fprintf(w, "\n%s\n", c.o.Description)
	}
	fmt.Fprint(w, "\nCaps:\n")
	for _, h := range c.handlers {
		fmt.Fprintf(w, "  %s\n        %s\n", h.name, h.cap.Title)
	}
	fmt.Fprint(w, "\nUsage:\n  manifest    print the manifest as JSON\n  help        print this\n")
}

// A stdio is standard input and output as one connection.
type stdio struct{ in, out *os.File }

func (s *stdio) Read(p []byte) (int, error)  { return s.in.Read(p) }
func (s *stdio) Write(p []byte) (int, error) { return s.out.Write(p) }

// WriteSide returns where Write goes, for those who can write to files in better ways.
func (s *stdio) WriteSide() io.WriteCloser { return s.out }

func (s *stdio) Close() error {
	err := s.out.Close()
	if e := s.in.Close(); err == nil {
		err = e
	}
	return err
}
