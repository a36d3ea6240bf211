package cartridge_test

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/cartridge"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/host"
	"github.com/cosim-go/cosim/relay/relaytest"
	"github.com/cosim-go/cosim/relay/route"
)

// Handlers of this program behind a host and a switch, as they are behind any.
func ExampleCartridge() {
	c := cartridge.New("demo", "1.0.0", nil)
	c.Handle("cap:upper", "Upper case", func(_ context.Context, r *cartridge.Request) error {
		in, err := r.Next()
		if err == io.EOF {
			return &cartridge.Error{Code: "NO_TEXT", Attribution: frame.AttributionInput, Message: "an argument is missing"}
		}
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

	h, m := host.New(nil), c.Manifest()
	if err := h.Register(host.Registration{Install: m.Install(), Groups: m.Groups, Provider: host.Handlers(c)}); err != nil {
		fmt.Println(err)
		return
	}
	near, far, err := relaytest.SocketPair()
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	hosted := make(chan error, 1)
	go func() { hosted <- h.Run(ctx, far) }()
	s, err := route.New(ctx, []route.Socket{{ID: "here", Conn: near}}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := call.Do(ctx, s, "cap:upper", call.Bytes("media:enc=utf-8", []byte("quiet")))
	fmt.Printf("%s, %v\n", answer, err)
	_, err = call.Do(ctx, s, "cap:upper")
	fmt.Println(err)
	s.Close()
	fmt.Println(<-hosted)
	// Output:
	// QUIET, <nil>
	// NO_TEXT (input): an argument is missing
	// <nil>
}

// A handler that asks whoever serves another cap, and hands the answer on as it comes.
func ExampleRequest_Open() {
	c := cartridge.New("demo", "1.0.0", nil)
	c.Handle("cap:relay", "Passes on", func(ctx context.Context, r *cartridge.Request) error {
		in, err := r.Next()
		if err != nil {
			return err
		}
		peer, err := call.Start(ctx, r, call.Request{Cap: "cap:effect=none"}, call.Arg{Media: in.Media(), Body: in})
		if err != nil {
			return err
		}
		defer peer.Close()
		out := r.Output(in.Media(), nil)
		for {
			e, err := peer.Next(ctx)
			if err == io.EOF {
				return nil
			}
			if err != nil {
				return err // with the code of the peer
			}
			if e.Kind == call.EventData {
				if _, err := out.Write(e.Data); err != nil {
					return err
				}
			}
		}
	})

	ask(c, "cap:relay", "there and back\n")
	// Output: there and back
}

// ask prints what a cartridge answers, behind a host and a switch.
func ask(c *cartridge.Cartridge, cap, text string) {
	h, m := host.New(nil), c.Manifest()
	must(h.Register(host.Registration{Install: m.Install(), Groups: m.Groups, Provider: host.Handlers(c)}))
	near, far, err := relaytest.SocketPair()
	must(err)
	ctx := context.Background()
	hosted := make(chan error, 1)
	go func() { hosted <- h.Run(ctx, far) }()
	s, err := route.New(ctx, []route.Socket{{ID: "here", Conn: near}}, nil)
	must(err)
	answer, err := call.Do(ctx, s, cap, call.Bytes("media:enc=utf-8", []byte(text)))
	must(err)
	fmt.Printf("%s", answer)
	s.Close()
	must(<-hosted)
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
