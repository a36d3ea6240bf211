package host

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
)

// begin does what a REQ asks for.
func (a *actor) begin(f *frame.Frame, do string) error {
	k := flow.KeyOf(f.Head())
	if k.XID == frame.Number(0) { // the check of identity
		switch a.behaviour {
		case "identity-hang":
			io.Copy(io.Discard, a.conn)
			return errLeave
		case "identity-policy":
			a.policy()
		case "identity-exit":
			os.Exit(5)
		case "identity-noise":
			credit := frame.NewCredit(k.RID, nil, 1, frame.RequestDirection)
			credit.RoutingID = k.XID
			hb, _ := frame.NewHeartbeat(frame.NewUUID(), frame.Heartbeat{})
			a.send(a.log(k, "checking"), &credit, &hb)
		case "identity-late": // what an earlier check was answered with
			old := flow.Key{RID: frame.NewUUID(), XID: k.XID}
			a.send(append(a.stream(old, "out", "old"), a.end(old))...)
		case "identity-pieces": // byte strings that, joined, have what was sent
			delete(a.reqs, k)
			a.send(a.stream(k, "a", "\x43\x66bi")...)
			a.send(append(a.stream(k, "b", "\x44faci"), a.end(k))...)
		case "identity-fail":
			delete(a.reqs, k)
			a.fail(k, "HANDLER_ERROR", frame.AttributionInternal, "has no identity")
		}
		return nil
	}
	switch do {
	case "die":
		fmt.Fprintln(os.Stderr, "out of luck")
		os.Exit(3)
	case "signal":
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		hang()
	case "leave":
		return errLeave
	case "close-output":
		os.Stdout.Close()
		hang()
	case "close-input":
		os.Stdin.Close()
		hang()
	case "half-exit":
		a.raw([]byte{0, 0, 0, 9, 0xa1})
		os.Exit(0)
	case "half-hang":
		a.raw([]byte{0, 0, 0, 9, 0xa1})
		hang()
	case "garbage":
		for a.raw(bytes.Repeat([]byte("garbage "), 1<<12)) == nil {
		}
		hang()
	case "flood-log":
		go func() {
			for a.send(a.log(k, "again and again")) == nil {
			}
		}()
	case "flood-stray":
		go func() {
			stray := flow.Key{RID: frame.NewUUID(), XID: frame.Number(1 << 40)}
			for a.send(a.log(stray, "who is this for?")) == nil {
			}
		}()
	case "stderr":
		line := bytes.Repeat([]byte("x"), 100)
		for i := range 100_000 {
			fmt.Fprintf(os.Stderr, "%06d %s\n", i, line)
		}
		os.Stderr.Write(bytes.Repeat([]byte("y"), 1<<20)) // one line
		fmt.Fprintln(os.Stderr)
	case "policy":
		a.policy()
	case "state":
		s := frame.NewRelayState([]byte("x"))
		a.send(&s)
	case "notify":
		n, _ := frame.NewRelayNotify(frame.Notify{Manifest: []byte("{}"), Limits: frame.DefaultLimits()})
		a.send(&n)
	case "hello":
		h, _ := frame.NewHello(frame.Hello{Limits: frame.DefaultLimits()})
		a.send(&h)
	case "req-xid":
		r := frame.NewReq(frame.NewUUID(), []byte("cap:x"))
		r.RoutingID = frame.Number(7)
		a.send(&r)
	case "req-nocap":
		r := frame.NewReq(frame.NewUUID(), nil)
		r.Cap = nil
		a.send(&r)
	case "req-twice":
		id := frame.NewUUID()
		for range 2 {
			r := frame.NewReq(id, []byte("cap:x"))
			a.send(&r)
		}
	case "gap":
		for i := range 70 {
			l := a.log(k, "too early")
			l.Seq = uint64(i + 5)
			a.mu.Lock()
			a.out.Write(l)
			a.mu.Unlock()
		}
		a.out.Flush()
	case "foreign":
		rid, _ := f.Meta.Text("rid")
		id, _ := frame.ParseID(string(rid))
		xid, _ := f.Meta.Int("xid")
		a.send(a.log(flow.Key{RID: id, XID: frame.Number(uint64(xid))}, "of another cartridge"))
	case "stop":
		syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	case "deaf", "no-pools-answer":
		a.behaviour = do
	case "grandchild", "escape":
		a.grandchild(do == "escape")
	case "exceed":
		a.send(a.stream(k, "out", "0")[0])
		for i := range 100 {
			c := frame.NewChunk(k.RID, []byte("out"), uint64(i), []byte("x"), flow.Checksum([]byte("x")))
			c.RoutingID = k.XID
			a.send(&c)
		}
	case "early":
		a.send(append(a.stream(k, "out", "early"), a.end(k))...)
	case "two-ends":
		a.send(a.end(k))
		a.send(a.log(k, "too late"), a.end(k))
	case "call", "call-die", "call-leave", "call-open":
		a.call(k, f, do)
	case "beat":
		a.own = frame.NewUUID()
		hb, _ := frame.NewHeartbeat(a.own, frame.Heartbeat{})
		a.send(&hb)
	}
	return nil
}

func (a *actor) policy() {
	p := frame.NewPolicy([]byte("{}"))
	a.send(&p)
}

// grandchild starts a process that keeps the pipes, in the group of this one or in one of its own, and exits.
func (a *actor) grandchild(escape bool) {
	c := exec.Command("/bin/sh", "-c", "exec sleep 1000")
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	if escape {
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	}
	if err := c.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(4)
}

// call makes a peer call, of the cap in meta or echo.
func (a *actor) call(k flow.Key, f *frame.Frame, do string) {
	cap, ok := f.Meta.Text("peer")
	if !ok {
		cap = []byte(capOf("echo"))
	}
	id := frame.NewUUID()
	var b frame.MetaBuilder
	frame.ReqInfo{ParentRID: k.RID}.Put(&b)
	r := frame.NewReq(id, cap)
	r.Meta, _ = b.Meta()
	a.calls[id] = k
	a.send(&r)
	switch do {
	case "call-die":
		if text, _ := f.Meta.Text("body"); string(text) == "whole" {
			end := frame.NewBodyEnd(id)
			a.send(&end)
		}
		os.Exit(3)
	case "call-leave":
		return
	}
	body := a.stream(flow.Key{RID: id}, "arg0", "from "+a.name)
	if do == "call-open" { // the rest follows when the response has ended
		a.send(body[:2]...)
		a.open = body[2]
		return
	}
	a.send(body...)
	end := frame.NewBodyEnd(id)
	a.send(&end)
}

// answered takes in a frame of the response to a peer call, and passes it on.
func (a *actor) answered(parent flow.Key, f *frame.Frame) error {
	if f.Type == frame.TypeCredit {
		return nil
	}
	if f.Type.Terminal() {
		delete(a.calls, f.ID)
		if a.open != nil {
			end := frame.NewBodyEnd(f.ID)
			a.send(a.open, &end)
			a.open = nil
		}
	}
	f.ID, f.RoutingID, f.Seq = parent.RID, parent.XID, 0
	a.send(f)
	return nil
}

// hang waits until the process is killed.
func hang() { time.Sleep(time.Hour) }
