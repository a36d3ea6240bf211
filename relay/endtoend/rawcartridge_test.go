package endtoend

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/manifest"
)

// The behaviour of a raw cartridge while it starts; what it does later is told by each request.
const behaviourVariable = "RELAY_ENDTOEND_BEHAVIOUR"

// A rawCartridge is a cartridge that writes its frames itself, and so can do what no cartridge may.
type rawCartridge struct {
	in    *frame.Reader
	reqs  map[flow.Key]*rawRequest
	calls map[frame.ID]flow.Key // its peer calls, with the requests that they are made for
	heard []string              // what it was told, in order
	quiet atomic.Bool           // it stops what it floods

	mu  sync.Mutex // over all that follows
	out *frame.Writer
	seq *flow.SeqAssigner
}

// A rawRequest is a request that a raw cartridge serves.
type rawRequest struct {
	do   string
	body []*frame.Frame
}

// serveRaw is the program of a raw cartridge.
func serveRaw() {
	c := &rawCartridge{
		in: frame.NewReader(os.Stdin, nil), out: frame.NewWriter(os.Stdout, nil), seq: flow.NewSeqAssigner(nil),
		reqs: map[flow.Key]*rawRequest{}, calls: map[frame.ID]flow.Key{},
	}
	if err := c.serve(os.Getenv(behaviourVariable)); err != nil && err != io.EOF {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func (c *rawCartridge) serve(behaviour string) error {
	if err := c.greet(behaviour); err != nil {
		return err
	}
	for {
		f, err := c.in.Next()
		if err != nil {
			return err
		}
		c.take(f.Clone(), behaviour)
	}
}

// greet answers the host's HELLO.
func (c *rawCartridge) greet(behaviour string) error {
	f, err := c.in.Next()
	if err != nil {
		return err
	}
	host, err := f.Hello()
	if err != nil {
		return err
	}
	switch behaviour {
	case "hang in HELLO":
		hang()
	case "die in HELLO":
		fmt.Fprintln(os.Stderr, "no licence")
		os.Exit(exitStatus)
	case "half a HELLO":
		os.Stdout.Write([]byte{0, 0, 1, 0, 0xa4, 0x00})
		os.Exit(exitStatus)
	}
	m := rawManifest()
	hello, err := frame.NewHello(frame.Hello{Limits: host.Limits, Manifest: m.AppendJSON(nil), Pools: m.InitialPools().AppendJSON(nil)})
	if err != nil {
		return err
	}
	c.send(&hello)
	return nil
}

func rawManifest() *manifest.Cartridge {
	identity, _ := manifest.NewCap("cap:effect=none", "Identity")
	own, _ := manifest.NewCap(capOf(os.Getenv(nameVariable)), "Do as the request says")
	return &manifest.Cartridge{
		Name: os.Getenv(nameVariable), Version: "1.0.0", Channel: manifest.ChannelRelease,
		Groups: []manifest.CapGroup{{Name: "default", Caps: []manifest.Cap{identity, own}}},
	}
}

// take handles a frame.
func (c *rawCartridge) take(f *frame.Frame, behaviour string) {
	key := flow.KeyOf(f.Head())
	r := c.reqs[key]
	switch f.Type {
	case frame.TypeHeartbeat:
		answer, _ := frame.NewHeartbeat(f.ID, frame.Heartbeat{Pools: rawManifest().InitialPools().AppendJSON(nil)})
		c.send(&answer)
	case frame.TypePolicy:
		c.heard = append(c.heard, "policy "+string(f.Payload))
	case frame.TypeReq:
		do, _ := f.Meta.Text("do")
		c.heard = append(c.heard, strings.TrimSpace("req "+string(do)))
		c.reqs[key] = &rawRequest{do: string(do)}
	case frame.TypeCancel:
		c.quiet.Store(true)
		reason := f.CancelReason()
		c.heard = append(c.heard, fmt.Sprintf("cancel %s %v", reason.Code, reason.Attribution))
		if r != nil {
			delete(c.reqs, key)
			c.send(c.failure(key, call.CancelledFrom(reason).Terminal()))
		}
	case frame.TypeErr:
		if parent, ok := c.calls[f.ID]; ok { // of a peer call: it is this one's answer too
			info, _ := f.ErrInfo()
			c.send(c.failure(parent, &call.Error{Code: string(info.Code), Attribution: info.Attribution, Message: string(info.Message)}))
		}
	case frame.TypeEnd:
		if r != nil {
			delete(c.reqs, key)
			c.answer(key, r, behaviour)
		}
	case frame.TypeStreamStart, frame.TypeChunk, frame.TypeStreamEnd:
		if r != nil {
			r.body = append(r.body, f)
		}
	}
}

// send numbers frames and writes them.
func (c *rawCartridge) send(frames ...*frame.Frame) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range frames {
		c.seq.Assign(f)
		if c.out.Write(f) != nil {
			return
		}
		if f.Type.Terminal() {
			c.seq.Remove(flow.KeyOf(f.Head()))
		}
	}
	c.out.Flush()
}

func (c *rawCartridge) failure(k flow.Key, e *call.Error) *frame.Frame {
	f, _ := frame.NewErr(k.RID, e.Info())
	f.RoutingID = k.XID
	return &f
}

func (c *rawCartridge) end(k flow.Key) *frame.Frame {
	f, _ := frame.NewEnd(k.RID, frame.EndInfo{ExitCode: frame.Some[int64](0)})
	f.RoutingID = k.XID
	return &f
}

// stream returns the frames of a stream.
func (c *rawCartridge) stream(k flow.Key, id string, chunks ...[]byte) []*frame.Frame {
	start := frame.NewStreamStart(k.RID, []byte(id), []byte(mediaPayload))
	start.RoutingID, start.IsSequence = k.XID, frame.Some(false)
	frames := []*frame.Frame{&start}
	chunker := flow.NewChunker(&start, 0)
	for _, data := range chunks {
		for f := range chunker.Scalar(data) {
			frames = append(frames, f.Clone())
		}
	}
	end := chunker.End()
	return append(frames, &end)
}

func (c *rawCartridge) log(k flow.Key, message string) *frame.Frame {
	f, _ := frame.NewLog(k.RID, frame.LogInfo{Level: []byte("info"), Message: []byte(message), Attribution: frame.AttributionInternal})
	f.RoutingID = k.XID
	return &f
}

// echo answers with what came.
func (c *rawCartridge) echo(k flow.Key, r *rawRequest, behaviour string) {
	for _, f := range r.body {
		if f.Type == frame.TypeChunk && behaviour == "wrong identity" {
			f.Payload = bytes.ToUpper(f.Payload)
			f.Checksum = frame.Some(flow.Checksum(f.Payload))
		}
		f.Seq = 0
		c.send(f)
	}
	c.send(c.end(k))
}
