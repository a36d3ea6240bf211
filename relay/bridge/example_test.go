package bridge_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"

	"github.com/cosim-go/cosim/relay/bridge"
	"github.com/cosim-go/cosim/relay/frame"
)

// A host of cartridges sits behind a slave. Here the host answers one request and ends; the
// switch at the other end of the socket is played by the example itself.
func ExampleSlave() {
	local, host := net.Pipe()
	socket, remote := net.Pipe()

	slave := bridge.NewSlave(local, nil)
	ended := make(chan error)
	go func() {
		ended <- slave.Run(context.Background(), socket, &frame.Notify{
			Manifest: []byte(`{"caps":["cap:effect=none"],"installed_cartridges":[]}`),
			Limits:   frame.DefaultLimits(),
		})
	}()
	go func() {
		in, out := frame.NewReader(host, nil), frame.NewWriter(host, nil)
		req, err := in.Next()
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("host: %v of %s\n", req.Type, req.Cap)
		answer, err := frame.NewEnd(req.ID, frame.EndInfo{ExitCode: frame.Some[int64](0)})
		if err != nil {
			log.Fatal(err)
		}
		answer.RoutingID = req.RoutingID
		out.Write(&answer)
		out.Flush()
		host.Close()
	}()

	in, out := frame.NewReader(remote, nil), frame.NewWriter(remote, nil)
	first, err := in.Next()
	if err != nil {
		log.Fatal(err)
	}
	manifest, _ := first.Manifest()
	fmt.Printf("switch: %v with %s\n", first.Type, manifest)
	req := frame.NewReq(frame.NewUUID(), []byte("cap:effect=none"))
	req.RoutingID = frame.Number(1)
	out.Write(&req)
	out.Flush()
	answer, err := in.Next()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("switch: %v, succeeded: %t\n", answer.Type, answer.EndInfo().Succeeded())
	remote.Close()
	fmt.Println("slave:", <-ended)
	// Output:
	// switch: relay_notify with {"caps":["cap:effect=none"],"installed_cartridges":[]}
	// host: req of cap:effect=none
	// switch: end, succeeded: true
	// slave: <nil>
}

// A switch is a master of each host: it takes what the slave announces, and then reads frames
// until the host is gone.
func ExampleConnect() {
	socket, remote := net.Pipe()
	go announce(remote, "one cap", "two caps")

	master, err := bridge.Connect(context.Background(), socket, &bridge.MasterOptions{
		OnNotify: func(n frame.Notify) { fmt.Printf("the host now offers %s\n", n.Manifest) },
	})
	if err != nil {
		log.Fatal(err)
	}
	defer master.Close()
	fmt.Printf("the host offers %s, in frames of %d bytes at most\n", master.Manifest(), master.Limits().MaxFrame)
	for {
		f, err := master.ReadFrame()
		if err == io.EOF {
			fmt.Println("the host has ended")
			return
		}
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%v %d\n", f.Type, f.Seq)
	}
	// Output:
	// the host offers one cap, in frames of 3670016 bytes at most
	// the host now offers two caps
	// req 0
	// end 1
	// the host has ended
}

// announce plays a slave. Its frames come out of order, which the master puts right.
func announce(socket io.ReadWriteCloser, manifests ...string) {
	out := frame.NewWriter(socket, nil)
	for _, manifest := range manifests {
		f, err := frame.NewRelayNotify(frame.Notify{Manifest: []byte(manifest), Limits: frame.DefaultLimits()})
		if err != nil {
			log.Fatal(err)
		}
		out.Write(&f)
	}
	id := frame.NewUUID()
	end := frame.NewBodyEnd(id)
	end.Seq = 1
	out.Write(&end)
	req := frame.NewReq(id, []byte("cap:out=media:void"))
	out.Write(&req)
	out.Flush()
	socket.Close()
}

// A host waits for news of what the engine tells it: the newest payload counts, and the
// version says which one it is.
func ExampleState() {
	local, host := net.Pipe()
	socket, remote := net.Pipe()
	slave := bridge.NewSlave(local, nil)
	ended := make(chan error)
	go func() { ended <- slave.Run(context.Background(), socket, nil) }()

	out := frame.NewWriter(remote, nil)
	state := slave.State()
	for version, payload := range []string{`{"gpus":1}`, `{"gpus":2}`} {
		f := frame.NewRelayState([]byte(payload))
		out.Write(&f)
		out.Flush()
		newest, version, err := state.Wait(context.Background(), uint64(version))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("version %d: %s\n", version, newest)
	}
	host.Close()
	remote.Close()
	fmt.Println(<-ended)
	// Output:
	// version 1: {"gpus":1}
	// version 2: {"gpus":2}
	// <nil>
}
