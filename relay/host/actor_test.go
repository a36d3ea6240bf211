package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/cosim-go/cosim/relay/bridge"
	"github.com/cosim-go/cosim/relay/caps"
	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/manifest"
)

// An actor is a cartridge that speaks raw frames and does what a test wants of it: how it starts is its behaviour, what it does
// later is in the cap of each request, such as cap:do=die.
type actor struct {
	name, behaviour string
	conn            io.ReadWriteCloser
	process         bool // it is one of its own
	in              *frame.Reader
	reqs            map[flow.Key]*script

	mu    lock
	out   *frame.Writer
	seq   *flow.SeqAssigner
	calls map[frame.ID]flow.Key // its peer calls, with the requests that they are made for
	own   frame.ID              // of its own heartbeat
	open  *frame.Frame          // rest of the body of its peer call
	heard []string              // what it was told beside requests, in order
}

// A script is a request that an actor serves.
type script struct {
	do   string
	body []*frame.Frame
}

// runProcess is what a process of this test binary does as a cartridge. It is told name/behaviour, or the name alone to
// behave well.
func runProcess(behaviour string) int {
	name, behaviour, _ := strings.Cut(behaviour, "/")
	a := &actor{name: name, behaviour: behaviour, conn: bridge.Join(os.Stdin, os.Stdout), process: true}
	if err := a.serve(); err != nil {
		fmt.Fprintln(os.Stderr, "cartridge:", err)
		return 1
	}
	return 0
}

// An inProcess is an actor as a Server.
type inProcess struct{ name, behaviour string }

func (s inProcess) Serve(ctx context.Context, conn io.ReadWriteCloser) error {
	a := &actor{name: s.name, behaviour: s.behaviour, conn: conn}
	return a.serve()
}

// errLeave ends an actor.
var errLeave = errors.New("leave")

func (a *actor) serve() error {
	a.prepare()
	if err := a.hello(); err != nil {
		return err
	}
	for {
		f, err := a.in.Next()
		switch {
		case err == io.EOF && a.behaviour == "stay":
			hang()
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
		if err := a.take(f.Clone()); err == errLeave {
			return nil
		} else if err != nil {
			return err
		}
	}
}

func (a *actor) prepare() {
	a.in, a.out = frame.NewReader(a.conn, nil), frame.NewWriter(a.conn, nil)
	a.seq, a.reqs, a.calls = flow.NewSeqAssigner(nil), map[flow.Key]*script{}, map[frame.ID]flow.Key{}
	a.mu = make(lock, 1)
}

// A lock is a mutex that synctest knows who waits for.
type lock chan struct{}

func (l lock) Lock()   { l <- struct{}{} }
func (l lock) Unlock() { <-l }

// send numbers frames and writes them.
func (a *actor) send(frames ...*frame.Frame) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, f := range frames {
		a.seq.Assign(f)
		if err := a.out.Write(f); err != nil {
			return err
		}
		if f.Type.Terminal() {
			a.seq.Remove(flow.Key{RID: f.ID, XID: f.RoutingID})
		}
	}
	return a.out.Flush()
}

// raw writes bytes as they are.
func (a *actor) raw(b []byte) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, err := a.conn.Write(b)
	return err
}

// hello answers the host's HELLO.
func (a *actor) hello() error {
	switch a.behaviour {
	case "mute":
		io.Copy(io.Discard, a.conn)
		return errLeave
	case "exit":
		fmt.Fprintln(os.Stderr, "no licence")
		os.Exit(3)
	}
	f, err := a.in.Next()
	if err != nil {
		return err
	}
	host, err := f.Hello()
	if err != nil {
		return err
	}
	if a.behaviour == "not-hello" {
		hb, _ := frame.NewHeartbeat(frame.NewUUID(), frame.Heartbeat{})
		a.send(&hb)
		hang()
	}
	m := manifestOf(a.name, a.behaviour)
	hello := frame.Hello{Limits: host.Limits, Manifest: m.AppendJSON(nil), Pools: m.InitialPools().AppendJSON(nil)}
	switch a.behaviour {
	case "no-manifest":
		hello.Manifest = nil
	case "bad-manifest":
		hello.Manifest = []byte(`{"name": "demo"`)
	case "no-pools":
		hello.Pools = nil
	case "capacity":
		hello.Pools, hello.HandlerCapacity = nil, frame.Some[uint64](4)
	case "bad-pools":
		hello.Pools = []byte(`[]`)
	case "small":
		hello.Limits = frame.Limits{MaxFrame: 20_000, MaxChunk: 1000, MaxReorderBuffer: 16, InitialCredit: 8}
	}
	answer, err := frame.NewHello(hello)
	if err != nil {
		return err
	}
	if a.behaviour == "version" {
		body, _ := answer.Append(nil)
		return a.wrongVersion(body)
	}
	a.send(&answer)
	return nil
}

// wrongVersion writes a HELLO of version 5.
func (a *actor) wrongVersion(body []byte) error {
	i := bytes.Index(body, []byte{0x00, 0x04}) // key 0, 4
	body[i+1] = 5
	a.raw(append([]byte{0, 0, byte(len(body) >> 8), byte(len(body))}, body...))
	hang()
	return nil
}

// dos are what an actor can do, apart from identity.
var dos = []string{
	"echo", "late", "never", "fail", "die", "signal", "close-output", "close-input", "half-exit", "half-hang", "garbage",
	"flood-log", "flood-stray", "stderr", "policy", "state", "notify", "hello", "req-xid", "req-nocap", "req-twice",
	"gap", "stop", "deaf", "grandchild", "escape", "exceed", "early", "call", "call-die", "leave", "beat", "two-ends",
	"foreign", "no-pools-answer", "call-leave", "call-open", "tell",
}

func capOf(do string) string { return "cap:do=" + do }

// manifestOf returns the manifest of an actor.
func manifestOf(name, behaviour string) *manifest.Cartridge {
	group := manifest.CapGroup{Name: "default"}
	if behaviour != "no-identity" {
		group.Caps = append(group.Caps, mustCap(caps.Identity))
	}
	for _, do := range dos {
		group.Caps = append(group.Caps, mustCap(capOf(do)), mustCap(capOf(do)+";of="+name))
	}
	return &manifest.Cartridge{Name: name, Version: "1.2.3", Groups: []manifest.CapGroup{group}}
}

func mustCap(urn string) manifest.Cap {
	c, err := manifest.NewCap(urn, urn)
	if err != nil {
		panic(err)
	}
	return c
}

// take handles a frame.
func (a *actor) take(f *frame.Frame) error {
	key := flow.KeyOf(f.Head())
	switch f.Type {
	case frame.TypeHeartbeat:
		a.beat(f)
	case frame.TypePolicy:
		a.heard = append(a.heard, fmt.Sprintf("policy %s %x", f.Payload, a.in.Wire()[frame.PrefixSize:]))
	case frame.TypeReq:
		do, _ := strings.CutPrefix(string(f.Cap), "cap:do=")
		do, _, _ = strings.Cut(do, ";")
		if f.RoutingID == frame.Number(0) {
			a.heard = append(a.heard, "identity")
		} else {
			a.heard = append(a.heard, "req "+do)
		}
		a.reqs[key] = &script{do: do}
		return a.begin(f, do)
	case frame.TypeCancel:
		if a.reqs[key] != nil {
			delete(a.reqs, key)
			r := f.CancelReason()
			a.fail(key, string(r.Code), r.Attribution, "was cancelled")
		}
	case frame.TypeCloseStream:
		a.send(a.log(key, "closing"))
	case frame.TypeStreamStart, frame.TypeChunk, frame.TypeStreamEnd, frame.TypeEnd, frame.TypeErr, frame.TypeLog, frame.TypeCredit:
		if f.Type == frame.TypeCredit {
			a.heard = append(a.heard, "credit "+f.CreditDirection().String())
			return nil
		}
		if parent, ok := a.calls[f.ID]; ok && !a.ofBody(key, f) {
			return a.answered(parent, f)
		}
		if s := a.reqs[key]; s != nil {
			s.body = append(s.body, f)
			if f.Type.Terminal() {
				return a.finish(key, s)
			}
		}
	}
	return nil
}

// ofBody reports whether a frame is of a body that the actor gets, for a peer call of its own.
func (a *actor) ofBody(k flow.Key, f *frame.Frame) bool {
	if a.reqs[k] == nil {
		return false
	}
	return f.Type.Terminal() && a.open == nil || string(f.StreamID) == "arg0"
}

// beat answers a heartbeat.
func (a *actor) beat(f *frame.Frame) {
	if a.behaviour == "deaf" {
		return
	}
	hb, _ := f.Heartbeat()
	if f.ID == a.own {
		a.heard = append(a.heard, "answer")
		return
	}
	if hb.ResourceState != nil {
		a.heard = append(a.heard, "state "+string(hb.ResourceState))
	}
	if hb.DesiredCapacities != nil {
		a.heard = append(a.heard, "desired "+string(hb.DesiredCapacities))
	}
	if a.behaviour == "refuses" && hb.DesiredCapacities != nil {
		e, _ := frame.NewErr(f.ID, frame.ErrInfo{Code: []byte("UNKNOWN_POOL"), Attribution: frame.AttributionInternal, Message: []byte("no such pool")})
		a.send(&e)
		return
	}
	answer := frame.Heartbeat{
		Pools: manifestOf(a.name, "").InitialPools().AppendJSON(nil), RSSMB: frame.Some[uint64](12), Drops: frame.Some[uint64](1),
	}
	if a.behaviour == "no-pools-answer" {
		answer.Pools = nil
	}
	r, _ := frame.NewHeartbeat(f.ID, answer)
	a.send(&r)
}

func (a *actor) log(k flow.Key, message string) *frame.Frame {
	f, err := frame.NewLog(k.RID, frame.LogInfo{Level: []byte("info"), Message: []byte(message), Attribution: frame.AttributionInternal})
	if err != nil {
		panic(err)
	}
	f.RoutingID = k.XID
	return &f
}

func (a *actor) fail(k flow.Key, code string, at frame.Attribution, message string) {
	if code == "" {
		code = "CANCELLED"
	}
	if at == frame.NoAttribution {
		at = frame.AttributionInternal
	}
	f, _ := frame.NewErr(k.RID, frame.ErrInfo{Code: []byte(code), Attribution: at, Message: []byte(message)})
	f.RoutingID = k.XID
	a.send(&f)
}

func (a *actor) end(k flow.Key) *frame.Frame {
	f, _ := frame.NewEnd(k.RID, frame.EndInfo{ExitCode: frame.Some[int64](0)})
	f.RoutingID = k.XID
	return &f
}

// stream returns a response stream of one piece.
func (a *actor) stream(k flow.Key, id, data string) []*frame.Frame {
	start := frame.NewStreamStart(k.RID, []byte(id), []byte("media:"))
	chunk := frame.NewChunk(k.RID, []byte(id), 0, []byte(data), flow.Checksum([]byte(data)))
	end := frame.NewStreamEnd(k.RID, []byte(id), frame.Some[uint64](1))
	frames := []*frame.Frame{&start, &chunk, &end}
	for _, f := range frames {
		f.RoutingID = k.XID
	}
	return frames
}

// finish answers a request whose body has ended.
func (a *actor) finish(k flow.Key, s *script) error {
	switch s.do {
	case "early":
		fmt.Fprintf(os.Stderr, "the body had %d frames\n", len(s.body))
		delete(a.reqs, k)
		return nil
	case "never", "call", "call-die", "call-leave", "call-open":
		return nil
	case "tell":
		delete(a.reqs, k)
		a.mu.Lock()
		heard := strings.Join(a.heard, "\n")
		a.mu.Unlock()
		a.send(append(a.stream(k, "out", heard), a.end(k))...)
		return nil
	case "late":
		go func() {
			time.Sleep(50 * time.Millisecond)
			a.send(append(a.stream(k, "out", "late"), a.end(k))...)
		}()
		return nil
	}
	delete(a.reqs, k)
	if s.do == "fail" {
		a.fail(k, "HANDLER_ERROR", frame.AttributionInternal, "does not want to")
		return nil
	}
	echoed := s.body
	if a.behaviour == "wrong-echo" {
		echoed = nil
	}
	for _, f := range echoed {
		if !f.Type.Terminal() && f.Type != frame.TypeCredit {
			f.Seq = 0
			a.send(f)
		}
	}
	a.send(a.end(k))
	return nil
}
