package host_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"net"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/cartridge"
	"github.com/cosim-go/cosim/relay/host"
	"github.com/cosim-go/cosim/relay/route"
)

// A host with handlers in this program is joined to a switch in the same program.
func ExampleHost() {
	ctx := context.Background()
	shouter := cartridge.New("shouter", "1.0.0", nil)
	shouter.Handle("cap:shout", "Say it louder", shout)

	// The host learns what the cartridge can do, and starts it when somebody asks for that. A program is registered
	// in the same way, with host.Program in place of host.Handlers.
	provider := host.Handlers(shouter)
	m, err := host.Inspect(ctx, provider, nil)
	if err != nil {
		log.Fatal(err)
	}
	h := host.New(nil)
	if err := h.Register(host.Registration{Install: m.Install(), Groups: m.Groups, Provider: provider}); err != nil {
		log.Fatal(err)
	}

	// The relay between the two: here a pipe, between two programs a Unix socket.
	near, far := net.Pipe()
	ended := make(chan error)
	go func() { ended <- h.Run(ctx, far) }()
	s, err := route.New(ctx, []route.Socket{{ID: "host-1", Conn: near}}, nil)
	if err != nil {
		log.Fatal(err)
	}

	out, err := call.Do(ctx, s, "cap:shout", call.Bytes("media:", []byte("hello")))
	fmt.Printf("%s %v\n", out, err)

	s.Close() // ends the relay, and so the host stops its cartridges
	fmt.Println(<-ended)
	// Output:
	// HELLO <nil>
	// <nil>
}

// A host as a program of its own: it serves another program to the switch that listens on a Unix socket.
func ExampleHost_Run() {
	ctx := context.Background()
	h := host.New(nil)
	defer h.Close() // no process is left

	provider := host.Program(host.Exec, host.Command{Path: "./digest"})
	m, err := host.Inspect(ctx, provider, nil)
	if err != nil {
		log.Fatal(err)
	}
	if err := h.Register(host.Registration{Install: m.Install(), Groups: m.Groups, Provider: provider}); err != nil {
		log.Fatal(err)
	}
	conn, err := net.Dial("unix", "switch.sock")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(h.Run(ctx, conn)) // until the switch ends; nil then
}

// shout answers with its first argument in capital letters.
func shout(_ context.Context, r *cartridge.Request) error {
	in, err := r.Next()
	if err != nil {
		return err
	}
	text, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	_, err = r.Output("media:", nil).Write(bytes.ToUpper(text))
	return err
}
