// Command custom-host is a cartridge host of one's own: handlers in this program, and a program that it starts in a
// way of its own, behind one host. The host is joined to a switch in the same program by a pair of sockets.
//
//	custom-host PROGRAM CAP   # asks PROGRAM for CAP, with standard input, and shouts what it answers
package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"syscall"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/cartridge"
	"github.com/cosim-go/cosim/relay/host"
	"github.com/cosim-go/cosim/relay/route"
)

const shoutCap = `cap:shout;in="media:enc=utf-8";out="media:enc=utf-8"`

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("usage: custom-host PROGRAM CAP")
	}
	if err := run(context.Background(), os.Args[1], os.Args[2], os.Stdin, os.Stdout); err != nil {
		log.Fatal("custom-host: ", err)
	}
}

// Run asks a program for a cap, has the answer shouted, and writes that to out.
func run(ctx context.Context, program, cap string, in io.Reader, out io.Writer) error {
	h := host.New(nil)
	defer h.Close()
	if err := register(ctx, h, host.Handlers(shouter())); err != nil {
		return err
	}
	if err := register(ctx, h, host.Program(nice{}, host.Command{Path: program})); err != nil {
		return fmt.Errorf("%s: %w", program, err)
	}

	ends, err := socketPair()
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- h.Run(ctx, ends[1]) }()
	s, err := route.New(ctx, []route.Socket{{ID: "custom", Conn: ends[0]}}, nil)
	if err != nil {
		return err
	}
	defer s.Close()

	answer, err := call.Do(ctx, s, cap, call.Arg{Media: "media:", Body: in})
	if err != nil {
		return err
	}
	if answer, err = call.Do(ctx, s, shoutCap, call.Bytes("media:enc=utf-8", answer)); err != nil {
		return err
	}
	if _, err := out.Write(answer); err != nil {
		return err
	}
	s.Close() // which ends the relay, and with it the host and its cartridges
	return <-ended
}

// Register makes a cartridge known to the host, as it describes itself.
func register(ctx context.Context, h *host.Host, p host.Provider) error {
	m, err := host.Inspect(ctx, p, nil)
	if err != nil {
		return err
	}
	return h.Register(host.Registration{Install: m.Install(), Groups: m.Groups, Provider: p})
}

// Shouter returns handlers that need no process.
func shouter() *cartridge.Cartridge {
	c := cartridge.New("shouter", "1.0.0", nil)
	c.Handle(shoutCap, "Say it louder", func(_ context.Context, r *cartridge.Request) error {
		in, err := r.Next()
		if err != nil {
			return err
		}
		text, err := io.ReadAll(in)
		if err != nil {
			return err
		}
		_, err = r.Output("media:enc=utf-8", nil).Write(bytes.ToUpper(text))
		return err
	})
	return c
}

// SocketPair returns two Unix sockets that are joined.
func socketPair() (ends [2]net.Conn, err error) {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return ends, fmt.Errorf("making a pair of sockets: %w", err)
	}
	for i, fd := range fds {
		f := os.NewFile(uintptr(fd), "socket pair")
		defer f.Close() // the connection has a descriptor of its own
		if ends[i], err = net.FileConn(f); err != nil {
			return ends, fmt.Errorf("making a pair of sockets: %w", err)
		}
	}
	return ends, nil
}
