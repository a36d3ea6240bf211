package main

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"syscall"
)

// A device works on mapped memory for one host.
type device struct {
	memory, window []byte
	spoil          bool // get one byte wrong
}

// runDevice serves one host and returns when that one has left.
func runDevice(args []string, out io.Writer) error {
	var d device
	var memory, window region
	flags := flag.NewFlagSet("device", flag.ContinueOnError)
	pool := flags.String("pool", "", "")
	socket := flags.String("socket", "", "")
	flags.Var(&memory, "memory", "")
	flags.Var(&window, "window", "")
	flags.BoolVar(&d.spoil, "spoil", false, "")
	if err := parse(flags, args); err != nil {
		return err
	}
	var err error
	if d.memory, err = mapRegion(*pool, memory); err != nil {
		return err
	}
	defer syscall.Munmap(d.memory)
	if d.window, err = mapRegion(*pool, window); err != nil {
		return err
	}
	defer syscall.Munmap(d.window)

	listener, err := net.Listen("unix", *socket)
	if err != nil {
		return err
	}
	defer listener.Close() // removes the socket
	fmt.Fprintln(out, "listening")
	conn, err := listener.Accept()
	if err != nil {
		return err
	}
	defer conn.Close()
	return d.serve(conn)
}

// serve answers requests until the host closes the connection.
func (d *device) serve(conn io.ReadWriter) error {
	in, out := json.NewDecoder(conn), json.NewEncoder(conn)
	for {
		var q request
		if err := in.Decode(&q); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("reading a request: %w", err)
		}
		if err := out.Encode(d.answer(q)); err != nil {
			return fmt.Errorf("writing a reply: %w", err)
		}
	}
}

func (d *device) answer(q request) reply {
	if q.Offset < 0 || q.Size < 0 || q.Offset > len(d.memory)-q.Size || q.Size > len(d.window) || len(q.Key) == 0 {
		return reply{Error: fmt.Sprintf("cannot copy %d bytes at %d with a key of %d", q.Size, q.Offset, len(q.Key))}
	}
	from := d.memory[q.Offset : q.Offset+q.Size]
	transform(d.window, from, q.Key)
	if d.spoil && q.Size > 0 {
		d.window[q.Size/2] ^= 1
	}
	sum := sha256.Sum256(from)
	return reply{SHA256: sum[:]}
}
