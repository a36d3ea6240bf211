package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/relaytest"
)

// echo answers a request with its first argument, under credit, as a cartridge does.
func echo(t *testing.T, l *stubLink) {
	window := flow.NewWindow(l.limits.InitialCredit)
	gate := flow.NewGate(l.limits.InitialCredit)
	gates := make(chan struct{}, 1)
	frames := make(chan *frame.Frame, 1000)
	go func() { // input is served while output waits
		defer close(frames)
		for {
			var f *frame.Frame
			select {
			case f = <-l.sent:
			case <-l.closed:
				gate.Close(nil)
				return
			}
			if f.Type == frame.TypeCredit {
				gate.Grant(f.Credit.Or(0))
				continue
			}
			if f.Type == frame.TypeChunk {
				if err := window.Arrive(); err != nil {
					t.Error(err)
				}
			}
			frames <- f
		}
	}()
	defer close(gates)
	for f := range frames {
		out := *f
		switch f.Type {
		case frame.TypeStreamStart, frame.TypeStreamEnd:
		case frame.TypeChunk:
			if gate.Acquire(context.Background(), 1) != nil {
				return
			}
			if n := window.Consume(); n > 0 {
				l.respond(t, frame.NewCredit(l.request.ID, f.StreamID, n, frame.RequestDirection))
			}
		case frame.TypeEnd:
			out = success(l.request.ID)
		default:
			t.Errorf("a %s frame from the requester", f.Type)
		}
		l.respond(t, out)
		if f.Type.Terminal() {
			return
		}
	}
}

// serveEcho answers all requests until the gateway has ended.
func (r *rig) serveEcho() {
	done := make(chan struct{})
	stop := make(chan struct{})
	var all sync.WaitGroup
	go func() {
		defer close(done)
		for {
			select {
			case l := <-r.engine.opened:
				all.Go(func() { echo(r.T, l) })
			case <-stop:
				all.Wait()
				return
			}
		}
	}()
	r.Cleanup(func() {
		r.stop()
		close(stop)
		<-done
	})
}

// Bytes come back as they were sent, also when windows differ from what the HELLO said, many at once.
func TestClientCalls(t *testing.T) {
	r := newRig(t, nil)
	r.serveEcho()
	c := r.client()
	r.engine.limits.InitialCredit, r.engine.limits.MaxChunk = 3, 5000
	data := make([]byte, 300_000)
	for i := range data {
		data[i] = byte(i * i >> 8)
	}
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			want := data[:i*len(data)/19]
			got, err := call.Do(t.Context(), c, "cap:echo", call.Bytes("media:", want))
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%d bytes come back as %d, %v", len(want), len(got), err)
			}
		})
	}
	all.Wait()
	if drops, _ := c.Stats(); drops.Total > 0 {
		t.Errorf("drops: %+v", drops)
	}
}

// Open waits for admission, and fails with what the switch says.
func TestClientOpen(t *testing.T) {
	r := newRig(t, nil)
	r.engine.refuse = func(q call.Request) error {
		if q.Cap == "cap:nobody" {
			return &call.Error{Code: "NO_HANDLER", Attribution: frame.AttributionEnvironment, Message: "nobody serves it", ArgURN: "media:x"}
		}
		return nil
	}
	c := r.client()
	_, err := c.Open(t.Context(), call.Request{Cap: "cap:nobody"})
	var refused *call.Error
	if !errors.As(err, &refused) || *refused != (call.Error{Code: "NO_HANDLER", Attribution: frame.AttributionEnvironment, Message: "nobody serves it", ArgURN: "media:x"}) {
		t.Errorf("Open = %v", err)
	}
	var b frame.MetaBuilder
	b.Text("own", "thing")
	meta, _ := b.Meta()
	full := call.Request{
		Cap: "cap:x", Preferred: "cap:x;y", Cartridge: "demo", Parent: frame.Number(4), ID: frame.Number(9), ContentType: "text/plain", Meta: meta,
	}
	l, err := c.Open(t.Context(), full)
	if err != nil {
		t.Fatal(err)
	}
	q := receive(t, r.engine.opened).request
	own, _ := q.Meta.Text("own")
	if q.Cap != full.Cap || q.Preferred != full.Preferred || q.Cartridge != full.Cartridge || q.Parent != full.Parent || q.ID != full.ID || q.ContentType != full.ContentType || string(own) != "thing" {
		t.Errorf("the request is %+v", q)
	}
	if _, err := c.Open(t.Context(), full); !errors.Is(err, frame.ErrProtocol) {
		t.Errorf("Open of the id of a request that runs = %v", err)
	}
	l.Close()

	r.engine.admit = make(chan struct{})
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		waiting := <-r.engine.waiting
		cancel(call.ErrCancelledByUser)
		<-waiting.Done()
		var reason *call.Cancelled
		if !errors.As(context.Cause(waiting), &reason) || reason.Attribution != frame.AttributionUser {
			t.Errorf("the wait for admission ends with %v", context.Cause(waiting))
		}
		close(r.engine.admit)
	}()
	if _, err := c.Open(ctx, call.Request{Cap: "cap:x"}); !errors.Is(err, call.ErrCancelledByUser) {
		t.Errorf("Open of a context that ends = %v", err)
	}
	<-r.engine.admit
}

// A link that is closed before its end cancels; what comes late then is no loss.
func TestClientGivesUp(t *testing.T) {
	r := newRig(t, nil)
	c := r.client()
	l, err := c.Open(t.Context(), call.Request{Cap: "cap:x"})
	if err != nil {
		t.Fatal(err)
	}
	s := receive(t, r.engine.opened)
	l.Close()
	l.Close()
	if reason := receive(t, s.cancels); reason.Code != call.CodeAborted {
		t.Errorf("the handler is told %+v", reason)
	}
	body := frame.NewBodyEnd(l.ID())
	if err := l.Send(t.Context(), &body); err != call.ErrEnded {
		t.Errorf("Send after Close = %v", err)
	}
	if err := l.Cancel(false, frame.CancelReason{}); err != nil {
		t.Errorf("Cancel after Close = %v", err)
	}
	// The ERR that ended it comes sometime.
	for end := time.Now().Add(patience); time.Now().Before(end); {
		drops, late := c.Stats()
		if drops.Total != 0 {
			t.Errorf("drops %+v", drops)
		}
		if late.Total == 1 {
			return
		}
		l, err := c.Open(t.Context(), call.Request{Cap: StatusCap})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
	}
	t.Error("the end of the request never came")
}

// With the connection all requests end.
func TestClientLosesTheConnection(t *testing.T) {
	near, far, err := relaytest.SocketPair()
	if err != nil {
		t.Fatal(err)
	}
	defer far.Close()
	in, out := frame.NewReader(far, nil), frame.NewWriter(far, nil)
	go func() { // a gateway that admits, and goes
		hello, _ := frame.NewHello(frame.Hello{Limits: frame.DefaultLimits()})
		in.Next()
		out.Write(&hello)
		out.Flush()
		req, err := in.Next()
		if err != nil {
			t.Error(err)
			return
		}
		f, _ := admission(req.ID, frame.DefaultLimits())
		out.Write(&f)
		out.Flush()
		in.Next() // the end of the body
		far.Close()
	}()
	c, err := NewClient(t.Context(), near)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	l, err := c.Open(t.Context(), call.Request{Cap: "cap:x"})
	if err != nil {
		t.Fatal(err)
	}
	body := frame.NewBodyEnd(l.ID())
	if err := l.Send(t.Context(), &body); err != nil {
		t.Fatal(err)
	}
	f, err := l.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if info, err := f.ErrInfo(); err != nil || string(info.Code) != CodeConnectionLost || info.Attribution != frame.AttributionEnvironment {
		t.Errorf("the request ends with %+v, %v", info, err)
	}
	if _, err := l.Next(t.Context()); err != io.EOF {
		t.Errorf("Next after the end = %v", err)
	}
	if _, err := c.Open(t.Context(), call.Request{Cap: "cap:x"}); !errors.Is(err, &call.Error{Code: CodeConnectionLost}) {
		t.Errorf("Open = %v", err)
	}
	if err := l.Send(t.Context(), &body); err != call.ErrEnded {
		t.Errorf("Send = %v", err)
	}
}

// NewClient fails where no gateway answers, and closes the connection.
func TestNewClientFails(t *testing.T) {
	relaytest.NoLeaks(t)
	for name, answer := range map[string]func(far relaytest.Conn, cancel context.CancelFunc){
		"gone":        func(far relaytest.Conn, _ context.CancelFunc) { far.Close() },
		"bytes":       func(far relaytest.Conn, _ context.CancelFunc) { far.Write([]byte("HTTP/1.1 400 Bad Request")) },
		"out of time": func(_ relaytest.Conn, cancel context.CancelFunc) { cancel() },
		"another frame": func(far relaytest.Conn, _ context.CancelFunc) {
			w := frame.NewWriter(far, nil)
			f := frame.NewRelayState(nil)
			w.Write(&f)
			w.Flush()
		},
	} {
		near, far := relaytest.BufferedPipe(1 << 16)
		ctx, cancel := context.WithCancel(t.Context())
		go answer(far, cancel)
		if c, err := NewClient(ctx, near); err == nil {
			c.Close()
			t.Errorf("%s: no error", name)
		}
		if _, err := near.Write([]byte("x")); err == nil {
			t.Errorf("%s: the connection is open", name)
		}
		far.Close()
		cancel()
	}
}

// The gateway answers for its switch, also what is longer than a window, and also when asked to stop.
func TestStatus(t *testing.T) {
	r := newRig(t, nil)
	r.engine.limits.InitialCredit, r.engine.limits.MaxChunk = 1, 10
	c := r.client()
	data, err := c.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var s Status
	if err := json.Unmarshal(data, &s); err != nil {
		t.Fatal(err)
	}
	if !s.Ready || s.Callers != 1 || s.Limits != Limits(r.engine.limits) || len(s.Inventory.Records) != 0 {
		t.Errorf("the status is %+v", s)
	}
	for _, cap := range []string{"cap:relay-status;in=media:void;out=media:json", StatusCap + ";more", "cap:other", "cap:relay-status=("} {
		f := frame.NewReq(frame.NewUUID(), []byte(cap))
		if got, want := isStatus(&f), cap == "cap:relay-status;in=media:void;out=media:json"; got != want {
			t.Errorf("isStatus(%s) = %v", cap, got)
		}
	}
	l, err := c.Open(t.Context(), call.Request{Cap: StatusCap})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := l.Cancel(false, call.ErrCancelledByUser.Reason()); err != nil {
		t.Fatal(err)
	}
	for {
		f, err := l.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if f.Type.Terminal() {
			if info, err := f.ErrInfo(); err != nil || string(info.Code) != "CANCELLED" {
				t.Errorf("it ends with %s %+v, %v", f.Type, info, err)
			}
			break
		}
	}
	select {
	case l := <-r.engine.opened:
		t.Errorf("the switch got %s", l.request.Cap)
	default:
	}
}

func ExampleDial() {
	ctx := context.Background()
	c, err := Dial(ctx, "/run/cosim/switch")
	if err != nil {
		fmt.Println("no switch there")
		return
	}
	defer c.Close()
	out, err := call.Do(ctx, c, "cap:hash", call.Bytes("media:", []byte("hello")))
	fmt.Printf("%x %v\n", out, err)
	// Output: no switch there
}
