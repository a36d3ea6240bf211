package ours

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/cartridge"
	"github.com/cosim-go/cosim/relay/host"
	"github.com/cosim-go/cosim/relay/relaytest"
	"github.com/cosim-go/cosim/relay/route"
)

// Switch makes a switch of its ends of some connections to hosts.
func Switch(sockets []relaytest.Conn) (call.Opener, io.Closer, error) {
	var all []route.Socket
	for i, conn := range sockets {
		all = append(all, route.Socket{ID: fmt.Sprint("host-", i), Conn: conn})
	}
	s, err := route.New(context.Background(), all, nil)
	return s, s, err
}

// The role of a process that this program has started itself in, in its environment.
const (
	roleVariable  = "RELAY_BENCH_ROLE"
	cartridgeRole = "cartridge"
	copierRole    = "copier"
)

// Main serves the role that this process has, and returns when it has none. A program that measures streams begins with
// it: it is the processes in the middle as well.
func Main() {
	switch os.Getenv(roleVariable) {
	case cartridgeRole:
		echoCartridge().Main()
	case copierRole:
		if err := relaytest.EchoBlocks(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	default:
		return
	}
	os.Exit(0)
}

func inRole(role string) []string { return append(os.Environ(), roleVariable+"="+role) }

const echoCap = "cap:bench-echo"

// echoCartridge is a cartridge that answers with what it gets.
func echoCartridge() *cartridge.Cartridge {
	c := cartridge.New("bench-echo", "1.0.0", nil)
	c.Handle(echoCap, "Echo", func(_ context.Context, r *cartridge.Request) error {
		in, err := r.Next()
		if err != nil {
			return err
		}
		_, err = io.Copy(r.Output("media:", nil), in)
		return err
	})
	return c
}

// Stream is a switch, a socket, a host, and a cartridge in a process of its own.
func Stream() (relaytest.Stream, error) {
	self, err := os.Executable()
	return relaytest.Stream{
		Start: func() (call.Opener, func() error, error) { return streaming(self) },
		Cap:   echoCap,
		Echo: func() *exec.Cmd {
			cmd := exec.Command(self)
			cmd.Env = inRole(copierRole)
			return cmd
		},
	}, err
}

func streaming(program string) (o call.Opener, stop func() error, err error) {
	h, m := host.New(nil), echoCartridge().Manifest()
	r := host.Registration{
		Install: m.Install(), Groups: m.Groups,
		Provider: host.Program(nil, host.Command{Path: program, Env: inRole(cartridgeRole)}),
	}
	if err := h.Register(r); err != nil {
		return nil, nil, err
	}
	near, far, err := relaytest.SocketPair()
	if err != nil {
		return nil, nil, err
	}
	hosted := make(chan error, 1)
	go func() { hosted <- h.Run(context.Background(), far) }()
	o, s, err := Switch([]relaytest.Conn{near})
	if err != nil {
		<-hosted
		return nil, nil, err
	}
	return o, func() error {
		s.Close()
		return <-hosted
	}, nil
}
