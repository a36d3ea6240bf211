package route_test

import (
	"context"
	"fmt"
	"log"
	"net"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/caps"
	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/route"
)

// A switch in one's own program: hosts join over sockets, requests go to the host that serves them best.
func ExampleSwitch() {
	ctx := context.Background()
	s, err := route.New(ctx, nil, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()

	// A host joins: here over a pipe, in a program of its own over a Unix socket. Package host has a real one.
	ours, theirs := net.Pipe()
	go upperHost(theirs)
	if _, err := s.AddMaster(ctx, "host-1", ours); err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.Capabilities())

	out, err := call.Do(ctx, s, "cap:upper", call.Bytes("media:", []byte("hello")))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", out)

	_, err = call.Do(ctx, s, "cap:lower")
	fmt.Println(err)
	// Output:
	// [cap:effect=none cap:upper]
	// HELLO
	// NO_HANDLER (environment): nobody serves cap:lower
}

// upperHost is a host of two caps, the one that every host has and one that answers in capital letters, at its simplest:
// frame by frame.
func upperHost(conn net.Conn) {
	in, out := frame.NewReader(conn, nil), frame.NewWriter(conn, nil)
	numbers := flow.NewSeqAssigner(nil)
	send := func(f frame.Frame, xid frame.ID) {
		f.RoutingID = xid
		numbers.Assign(&f)
		out.Write(&f)
		out.Flush()
	}
	announce, err := frame.NewRelayNotify(frame.Notify{
		Manifest: []byte(`{"caps": ["cap:effect=none", "cap:upper"], "installed_cartridges": []}`),
		Limits:   frame.DefaultLimits(),
	})
	if err != nil {
		log.Fatal(err)
	}
	send(announce, frame.ID{})
	stream := []byte("result")
	var request string
	for {
		f, err := in.Next()
		if err != nil {
			return
		}
		switch f.Type {
		case frame.TypeReq:
			request = string(f.Cap)
			send(frame.NewStreamStart(f.ID, stream, []byte("media:")), f.RoutingID)
		case frame.TypeChunk:
			payload := append([]byte(nil), f.Payload...)
			if request != caps.Identity {
				for i := 1; i < len(payload); i++ { // behind the head of the byte string
					payload[i] -= 'a' - 'A'
				}
			}
			send(frame.NewChunk(f.ID, stream, 0, payload, flow.Checksum(payload)), f.RoutingID)
		case frame.TypeEnd:
			send(frame.NewStreamEnd(f.ID, stream, frame.Some[uint64](1)), f.RoutingID)
			end, err := frame.NewEnd(f.ID, frame.EndInfo{ExitCode: frame.Some[int64](0)})
			if err != nil {
				log.Fatal(err)
			}
			send(end, f.RoutingID)
			numbers.Remove(flow.Key{RID: f.ID, XID: f.RoutingID})
		}
	}
}
