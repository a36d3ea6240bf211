// Command embed-relay is a host with two caps, behind a slave at the Unix socket of a switch.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"slices"

	"github.com/cosim-go/cosim/relay/bridge"
	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
)

func main() {
	socket, err := net.Dial("unix", os.Args[len(os.Args)-1])
	if err == nil {
		err = serve(context.Background(), socket)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// serve takes over the socket. It returns when the switch has closed it, or something failed.
func serve(ctx context.Context, socket io.ReadWriteCloser) error {
	in, toHost := io.Pipe()
	fromHost, out := io.Pipe()
	h := &host{out: frame.NewWriter(out, nil), running: map[flow.Key]int{}, policy: new(frame.Frame)}
	first := offer(nil)
	last := first
	var slave *bridge.Slave
	slave = bridge.NewSlave(bridge.Join(fromHost, toHost), &bridge.SlaveOptions{OnState: func(state []byte) {
		if now := offer(state); !bytes.Equal(now.Manifest, last.Manifest) {
			slave.SendNotify(*now) // when that fails Run says why
			last = now
		}
	}})
	ended := make(chan error)
	go func() { ended <- slave.Run(ctx, socket, first) }()
	out.CloseWithError(h.work(in))
	return <-ended
}

// caps are the identity, which every host has and which echoes, and one that needs a GPU.
var caps = []string{"cap:effect=none", "cap:in=media:bytes;out=media:bytes;count"}

// offer says what the host can do with what the newest RELAY_STATE says that there is.
func offer(state []byte) *frame.Notify {
	var have struct{ GPUs uint }
	json.Unmarshal(state, &have) // the engine's business: what is not understood does not count
	manifest, _ := json.Marshal(map[string][]string{"caps": caps[:1+min(1, have.GPUs)], "installed_cartridges": {}})
	return &frame.Notify{Manifest: manifest, Limits: frame.DefaultLimits()}
}

// A host sends back what a request brings, and says at its end how much that was.
type host struct {
	out     *frame.Writer
	numbers flow.SeqAssigner // a slave numbers nothing
	running map[flow.Key]int // bytes of each request so far
	policy  *frame.Frame     // the newest one; empty before the first
}

// work takes frames until the slave has no more, which is io.EOF.
func (h *host) work(from io.Reader) error {
	in := frame.NewReader(from, &frame.ReaderOptions{Idle: h.out.Flush})
	for {
		f, err := in.Next()
		if err != nil {
			return err
		}
		key := flow.KeyOf(f.Head())
		size, running := h.running[key]
		switch {
		case f.Type == frame.TypePolicy:
			h.policy = f.Clone()
		case f.Type == frame.TypeReq && slices.Contains(caps, string(f.Cap)):
			h.running[key] = 0
		case f.Type == frame.TypeReq:
			h.fail(f, "NO_HANDLER", frame.AttributionEnvironment)
		case !running: // it has ended, or was refused
		case f.Type == frame.TypeCancel, f.Type == frame.TypeErr:
			h.fail(f, "CANCELLED", frame.AttributionUser)
		case f.Type == frame.TypeEnd:
			said := fmt.Appendf(nil, "%d bytes, policy %s", size, h.policy.Payload)
			end, _ := frame.NewEnd(f.ID, frame.EndInfo{ExitCode: frame.Some[int64](0), Message: said})
			h.send(f, end)
		case f.Type == frame.TypeCredit: // who takes a CHUNK may send another one
			h.send(f, frame.NewCredit(f.ID, f.StreamID, f.Credit.Or(0), frame.RequestDirection))
		case f.Type.Flow():
			h.running[key] += len(f.Payload)
			h.send(f, *f)
		}
	}
}

func (h *host) fail(f *frame.Frame, code string, class frame.Attribution) {
	answer, _ := frame.NewErr(f.ID, frame.ErrInfo{Code: []byte(code), Attribution: class, Message: []byte(code)})
	h.send(f, answer)
}

// send answers f. A write fails when the slave has ended: then there is no more to read either.
func (h *host) send(f *frame.Frame, answer frame.Frame) {
	answer.RoutingID = f.RoutingID
	h.numbers.Assign(&answer)
	h.out.Write(&answer)
	if key := flow.KeyOf(f.Head()); answer.Type.Terminal() {
		h.numbers.Remove(key)
		delete(h.running, key)
	}
}
