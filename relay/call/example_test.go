package call_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/cartridge"
	"github.com/cosim-go/cosim/relay/host"
	"github.com/cosim-go/cosim/relay/relaytest"
	"github.com/cosim-go/cosim/relay/route"
)

// Bytes to a cap, and bytes back.
func ExampleDo() {
	opener, stop := relay() // a switch, a gateway.Client, or the request that a cartridge serves
	defer stop()
	out, err := call.Do(context.Background(), opener, "cap:upper", call.Bytes("media:enc=utf-8", []byte("quiet")))
	fmt.Printf("%s %v\n", out, err)
	// Output: QUIET <nil>
}

// The response as it comes, while the arguments are read from somewhere.
func ExampleStart() {
	opener, stop := relay()
	defer stop()
	ctx := context.Background()
	c, err := call.Start(ctx, opener, call.Request{Cap: "cap:upper"}, call.Arg{Body: strings.NewReader("word by word\n")})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	for {
		e, err := c.Next(ctx)
		if err == io.EOF {
			fmt.Printf("done: %s\n", c.End().Message)
			return
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		switch e.Kind {
		case call.EventData:
			os.Stdout.Write(e.Data)
		case call.EventProgress:
			fmt.Printf("%.0f %%: %s\n", 100*e.Progress, e.Log.Message)
		}
	}
	// Output:
	// 50 %: reading
	// WORD BY WORD
	// 100 %: written
	// done: written
}

// relay returns a switch with one cartridge behind it.
func relay() (opener call.Opener, stop func()) {
	c := cartridge.New("upper", "1.0.0", nil)
	c.Handle("cap:upper", "Upper case", func(_ context.Context, r *cartridge.Request) error {
		in, err := r.Next()
		if err != nil {
			return err
		}
		r.Progress(0.5, "reading")
		text, err := io.ReadAll(in)
		if err != nil {
			return err
		}
		out := r.Output("media:enc=utf-8", nil)
		if _, err := io.WriteString(out, strings.ToUpper(string(text))); err != nil {
			return err
		}
		if err := out.Close(); err != nil {
			return err
		}
		r.Progress(1, "written")
		return nil
	})
	h, m := host.New(nil), c.Manifest()
	must(h.Register(host.Registration{Install: m.Install(), Groups: m.Groups, Provider: host.Handlers(c)}))
	near, far, err := relaytest.SocketPair()
	must(err)
	hosted := make(chan error, 1)
	go func() { hosted <- h.Run(context.Background(), far) }()
	s, err := route.New(context.Background(), []route.Socket{{ID: "here", Conn: near}}, nil)
	must(err)
	return s, func() {
		s.Close()
		must(<-hosted)
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
