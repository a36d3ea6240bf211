package gateway

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
)

func sum(payload string) uint64 { return flow.Checksum([]byte(payload)) }

func success(id frame.ID) frame.Frame {
	f, err := frame.NewEnd(id, frame.EndInfo{ExitCode: frame.Some[int64](0)})
	if err != nil {
		panic(err)
	}
	return f
}

// wantErr reads an ERR of a request, with a code and a class.
func (c *raw) wantErr(id frame.ID, code string, class frame.Attribution) string {
	c.Helper()
	for {
		f := c.read()
		if f.ID != id {
			c.Fatalf("a %s frame of %s, not of %s", f.Type, f.ID, id)
		}
		if f.Type != frame.TypeErr {
			continue
		}
		info, err := f.ErrInfo()
		if err != nil || string(info.Code) != code || info.Attribution != class {
			c.Fatalf("the request ends with %s (%s): %s, %v; want %s (%s)", info.Code, info.Attribution, info.Message, err, code, class)
		}
		return string(info.Message)
	}
}

// Both sides keep to the smaller limits of the two HELLO frames.
func TestHello(t *testing.T) {
	r := newRig(t, nil)
	r.engine.limits.InitialCredit, r.engine.limits.MaxChunk = 5, 1000
	c := r.client()
	if l := c.Limits(); l.InitialCredit != 5 || l.MaxChunk != 1000 || l.MaxFrame != frame.DefaultMaxFrame {
		t.Errorf("Limits = %+v", l)
	}
}

// The frames of a request go to its handler, and those of the response come back, without the switch's ids, in
// order and with numbers of the connection.
func TestCallerFrames(t *testing.T) {
	c := newRig(t, nil).caller()
	id := frame.NewUUID()
	req := frame.NewReq(id, []byte("cap:x"))
	req.ContentType = []byte("text/plain")
	var b frame.MetaBuilder
	frame.ReqInfo{TargetCartridge: []byte("demo"), ParentRID: frame.Number(3)}.Put(&b)
	b.Text(metaPreferred, "cap:x;y")
	b.Text("own", "thing")
	req.Meta, _ = b.Meta()
	c.write(req)
	l := receive(t, c.engine.opened)
	if r := l.request; r.ID != id || r.Cap != "cap:x" || r.Cartridge != "demo" || r.Parent != frame.Number(3) || r.Preferred != "cap:x;y" || r.ContentType != "text/plain" {
		t.Errorf("the request is %+v", r)
	}
	if own, _ := l.request.Meta.Text("own"); string(own) != "thing" {
		t.Errorf("own in its meta = %q", own)
	}
	limits, ok := admitted(c.read())
	if !ok || limits.MaxChunk != frame.DefaultMaxChunk || limits.InitialCredit != frame.DefaultCredit {
		t.Errorf("it is admitted with %+v, %v", limits, ok)
	}
	sent := []frame.Frame{
		frame.NewStreamStart(id, []byte("arg0"), []byte("media:")), chunk(id, 0, "hello"),
		frame.NewStreamEnd(id, []byte("arg0"), frame.Some[uint64](1)), frame.NewBodyEnd(id),
		frame.NewCredit(id, []byte("out"), 3, frame.ResponseDirection), frame.NewCloseStream(id, []byte("arg0")),
	}
	for _, f := range sent {
		c.write(f)
	}
	for _, want := range sent {
		if got := l.next(t); got.Type != want.Type || !bytes.Equal(got.Payload, want.Payload) || !bytes.Equal(got.StreamID, want.StreamID) {
			t.Errorf("the handler gets %s %q, want %s %q", got.Type, got.Payload, want.Type, want.Payload)
		}
	}
	response := []frame.Frame{
		frame.NewCredit(id, []byte("arg0"), 16, frame.RequestDirection),
		frame.NewStreamStart(id, []byte("out"), []byte("media:")), chunk(id, 0, "olleh"), success(id),
	}
	for i, f := range response {
		l.respond(t, f)
		got := c.read()
		if got.Type != f.Type || !bytes.Equal(got.Payload, f.Payload) || got.ID != id || !got.RoutingID.IsZero() || got.Seq != uint64(max(i-1, 0)) {
			t.Errorf("the caller gets %s %q number %d of %s/%s, want %s %q", got.Type, got.Payload, got.Seq, got.ID, got.RoutingID, f.Type, f.Payload)
		}
	}
	receive(t, l.closed)
}

// A caller's frames may come out of order within the limits of a flow.
func TestCallerReorders(t *testing.T) {
	c := newRig(t, nil).caller()
	id, l := c.begin("cap:x")
	first, second := frame.NewStreamStart(id, []byte("arg0"), []byte("media:")), chunk(id, 0, "x")
	first.Seq, second.Seq = 1, 2
	c.writeAs(second)
	c.writeAs(first)
	for _, want := range []frame.Type{frame.TypeStreamStart, frame.TypeChunk} {
		if got := l.next(t); got.Type != want {
			t.Errorf("the handler gets %s, want %s", got.Type, want)
		}
	}
}

// When a caller has gone its requests are cancelled, also one that waits for admission.
func TestCallerGoes(t *testing.T) {
	for name, leave := range map[string]func(c *raw) error{
		"closed":      func(c *raw) error { return c.conn.Close() },
		"half closed": func(c *raw) error { return c.conn.CloseWrite() },
		"half a frame": func(c *raw) error {
			_, err := c.conn.Write([]byte{0, 0, 0, 9, 0xa4})
			c.conn.CloseWrite()
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			c := r.caller()
			_, l := c.begin("cap:x")
			r.engine.admit = make(chan struct{})
			c.write(frame.NewReq(frame.NewUUID(), []byte("cap:x")))
			waiting := receive(t, r.engine.waiting)
			if err := leave(c); err != nil {
				t.Fatal(err)
			}
			if reason := receive(t, l.cancels); reason.Code != call.CodeAborted || reason.Attribution != frame.AttributionEnvironment || reason.Message != "the caller has gone" {
				t.Errorf("the request is cancelled with %+v", reason)
			}
			receive(t, l.closed)
			receive(t, waiting.Done())
		})
	}
}

// A CANCEL reaches the handler with its reason; the ERR that comes of it the caller.
func TestCallerCancels(t *testing.T) {
	user := frame.CancelReason{Code: []byte("CANCELLED"), Attribution: frame.AttributionUser, Message: []byte("enough")}
	t.Run("running", func(t *testing.T) {
		c := newRig(t, nil).caller()
		id, l := c.begin("cap:x")
		f, _ := frame.NewCancel(id, false, user)
		c.write(f)
		if reason := receive(t, l.cancels); reason.Message != "enough" || reason.Attribution != frame.AttributionUser {
			t.Errorf("the handler is told %+v", reason)
		}
		if got := c.wantErr(id, "CANCELLED", frame.AttributionUser); got != "enough" {
			t.Errorf("the caller is told %q", got)
		}
	})
	t.Run("waiting for admission", func(t *testing.T) {
		r := newRig(t, nil)
		r.engine.admit = make(chan struct{})
		c := r.caller()
		id := frame.NewUUID()
		c.write(frame.NewReq(id, []byte("cap:x")))
		waiting := receive(t, r.engine.waiting)
		f, _ := frame.NewCancel(id, true, user)
		c.write(f)
		receive(t, waiting.Done())
		c.wantErr(id, "CANCELLED", frame.AttributionUser)
	})
}

// A request that is none gets an ERR; others go on.
func TestBadRequests(t *testing.T) {
	r := newRig(t, &Options{MaxRequests: 2})
	r.engine.refuse = func(q call.Request) error {
		switch q.Cap {
		case "cap:nobody":
			return &call.Error{Code: "NO_HANDLER", Attribution: frame.AttributionEnvironment, Message: "nobody serves it"}
		case "cap:twice":
			return frame.Errorf(frame.ErrProtocol, "it runs already")
		case "cap:closed":
			return io.ErrClosedPipe
		}
		return nil
	}
	c := r.caller()
	_, l := c.begin("cap:x")
	payload := frame.NewReq(frame.NewUUID(), []byte("cap:x"))
	payload.Payload = []byte("x")
	for _, test := range []struct {
		req   frame.Frame
		code  string
		class frame.Attribution
	}{
		{frame.NewReq(frame.NewUUID(), nil), "INVALID_REQUEST", frame.AttributionInternal},
		{payload, "PROTOCOL_ERROR", frame.AttributionInternal},
		{frame.NewReq(frame.NewUUID(), []byte("cap:nobody")), "NO_HANDLER", frame.AttributionEnvironment},
		{frame.NewReq(frame.NewUUID(), []byte("cap:twice")), "PROTOCOL_ERROR", frame.AttributionInternal},
		{frame.NewReq(frame.NewUUID(), []byte("cap:closed")), "ABORTED", frame.AttributionInternal},
	} {
		c.write(test.req)
		c.wantErr(test.req.ID, test.code, test.class)
	}
	c.begin("cap:x")
	more := frame.NewReq(frame.NewUUID(), []byte("cap:x"))
	c.write(more)
	if got := c.wantErr(more.ID, "ABORTED", frame.AttributionResource); !strings.Contains(got, "2 requests of this caller run") {
		t.Errorf("the third of two requests ends with %q", got)
	}
	l.respond(t, success(l.request.ID))
	if f := c.read(); f.ID != l.request.ID || f.Type != frame.TypeEnd {
		t.Errorf("the first request ends with %s of %s", f.Type, f.ID)
	}
	c.begin("cap:x")
}

// What is not a caller's to send ends its connection and its requests, and nobody else's.
func TestBadCallers(t *testing.T) {
	notify, _ := frame.NewRelayNotify(frame.Notify{Manifest: []byte("{}"), Limits: frame.DefaultLimits()})
	hello, _ := frame.NewHello(frame.Hello{Limits: frame.DefaultLimits()})
	beat, _ := frame.NewHeartbeat(frame.NewUUID(), frame.Heartbeat{})
	for name, test := range map[string]struct {
		do   func(c *raw, id frame.ID)
		want string
	}{
		"relay state":  {func(c *raw, _ frame.ID) { c.write(frame.NewRelayState([]byte("x"))) }, "relay_state frame is not a caller's to send"},
		"relay notify": {func(c *raw, _ frame.ID) { c.write(notify) }, "relay_notify frame is not a caller's to send"},
		"policy":       {func(c *raw, _ frame.ID) { c.write(frame.NewPolicy(nil)) }, "policy frame is not a caller's to send"},
		"hello again":  {func(c *raw, _ frame.ID) { c.write(hello) }, "hello frame is not a caller's to send"},
		"heartbeat":    {func(c *raw, _ frame.ID) { c.write(beat) }, "heartbeat frame is not a caller's to send"},
		"log": {func(c *raw, id frame.ID) {
			f, _ := frame.NewLog(id, frame.LogInfo{Level: []byte("info"), Message: []byte("x"), Attribution: frame.AttributionInput})
			c.write(f)
		}, "log frame is not a caller's to send"},
		"a routing id": {func(c *raw, id frame.ID) {
			f := chunk(id, 0, "x")
			f.RoutingID = frame.Number(1)
			f.Seq = 0
			c.writeAs(f)
		}, "a chunk frame with a routing id"},
		"the id of a request that runs": {func(c *raw, id frame.ID) { c.write(frame.NewReq(id, []byte("cap:x"))) }, "a second REQ of request"},
		"a number again":                {func(c *raw, id frame.ID) { c.writeAs(chunk(id, 0, "x")) }, "its number was delivered before"},
		"too many gaps": {func(c *raw, id frame.ID) {
			for i := range uint64(frame.DefaultMaxHeld + 1) {
				f := chunk(id, i, "x")
				f.Seq = 2 + i
				c.writeAs(f)
			}
		}, "no more can be held"},
		"no frame":        {func(c *raw, _ frame.ID) { c.conn.Write([]byte("GET / HTTP/1.1\r\n\r\n")) }, "at most 3670016 are taken"},
		"a frame of text": {func(c *raw, _ frame.ID) { c.conn.Write([]byte("\x00\x00\x00\x02\x61x")) }, "map"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			neighbour := r.caller()
			neighbours, calm := neighbour.begin("cap:x")
			c := r.caller()
			id, l := c.begin("cap:x")
			test.do(c, id)
			c.gone()
			receive(t, l.cancels)
			receive(t, l.closed)
			calm.respond(t, success(neighbours))
			if f := neighbour.read(); f.Type != frame.TypeEnd {
				t.Errorf("the neighbour's request ends with %s", f.Type)
			}
			r.stop()
			<-r.ended
			if got := r.log.String(); !strings.Contains(got, test.want) {
				t.Errorf("the gateway logged %q, want %q", got, test.want)
			}
		})
	}
}

// Frames of requests that are not there are counted, and harm nothing.
func TestUnknownRequests(t *testing.T) {
	r := newRig(t, nil)
	c := r.caller()
	id, l := c.begin("cap:x")
	l.respond(t, success(id))
	if f := c.read(); f.Type != frame.TypeEnd {
		t.Errorf("the request ends with %s", f.Type)
	}
	receive(t, l.closed)
	c.write(chunk(id, 0, "late"))
	c.write(frame.NewCredit(id, nil, 1, frame.ResponseDirection))
	stranger := frame.NewUUID()
	for i := range uint64(3) {
		c.write(chunk(stranger, i, "x"))
	}
	cancel, _ := frame.NewCancel(stranger, true, frame.CancelReason{})
	c.write(cancel)
	c.begin("cap:x")
	c.conn.Close()
	r.stop()
	<-r.ended
	if got := r.log.String(); !strings.Contains(got, "frames of a caller were dropped") || !strings.Contains(got, "frames=3") {
		t.Errorf("the gateway logged %q", got)
	}
}

// More than may wait for a handler ends the request that it is of, and leaves nothing waiting.
func TestFloodOfArguments(t *testing.T) {
	const max = 1 << 20
	r := newRig(t, &Options{MaxQueued: max})
	c := r.caller()
	r.engine.admit = make(chan struct{})
	ids := []frame.ID{frame.NewUUID(), frame.NewUUID()}
	for round := range 2 { // the second shows that the first left nothing
		id := ids[round]
		c.write(frame.NewReq(id, []byte("cap:x")))
		receive(t, r.engine.waiting)
		for i := range uint64(5) {
			c.write(chunk(id, i, strings.Repeat("x", max/4)))
		}
		c.wantErr(id, "ABORTED", frame.AttributionResource)
	}
	other := frame.NewUUID()
	c.write(frame.NewReq(other, []byte("cap:x")))
	receive(t, r.engine.waiting)
	for i := range uint64(3) {
		c.write(chunk(other, i, strings.Repeat("x", max/4)))
	}
	r.engine.admit <- struct{}{}
	l := receive(t, r.engine.opened)
	for range 3 {
		l.next(t)
	}
}

// A response that is longer than what may wait for a caller who does not read ends with an ERR, once that caller reads.
func TestFloodOfResponse(t *testing.T) {
	const max = 8 << 20
	c := newRig(t, &Options{MaxQueued: max}).caller()
	id, l := c.begin("cap:x")
	other, calm := c.begin("cap:x")
	for i := range uint64(2 * max >> 18) {
		select {
		case <-l.over:
		default:
			f := frame.NewChunk(id, []byte("out"), i, make([]byte, 1<<18), 0)
			l.respond(t, f)
		}
	}
	if reason := receive(t, l.cancels); reason.Code != "ABORTED" || reason.Attribution != frame.AttributionResource {
		t.Errorf("the handler is told %+v", reason)
	}
	c.wantErr(id, "ABORTED", frame.AttributionResource)
	calm.respond(t, success(other))
	if f := c.read(); f.ID != other || f.Type != frame.TypeEnd {
		t.Errorf("then comes %s of %s", f.Type, f.ID)
	}
}

// A frame of a response that the caller cannot take ends that request.
func TestResponseBeyondTheLimit(t *testing.T) {
	r := newRig(t, nil)
	c := r.connect()
	limits := frame.DefaultLimits()
	limits.MaxFrame = 2000
	hello, _ := frame.NewHello(frame.Hello{Limits: limits})
	c.write(hello)
	c.read()
	id, l := c.begin("cap:x")
	l.respond(t, chunk(id, 0, strings.Repeat("x", 3000)))
	c.wantErr(id, "FRAME_TOO_LARGE", frame.AttributionInternal)
	if reason := receive(t, l.cancels); reason.Code != "FRAME_TOO_LARGE" {
		t.Errorf("the handler is told %+v", reason)
	}
}

// Many requests run on one connection at once, and none waits for another.
func TestManyRequests(t *testing.T) {
	c := newRig(t, nil).caller()
	const n = 300
	links := map[frame.ID]*stubLink{}
	for range n {
		id, l := c.begin("cap:x")
		links[id] = l
	}
	for id, l := range links { // in no order
		c.write(chunk(id, 0, id.String()))
		f := l.next(t)
		l.respond(t, chunk(id, 0, string(f.Payload)))
		l.respond(t, success(id))
		if got := c.read(); got.ID != id || string(got.Payload) != id.String() {
			t.Fatalf("request %s gets %q of %s", id, got.Payload, got.ID)
		}
		if got := c.read(); got.ID != id || got.Type != frame.TypeEnd {
			t.Fatalf("request %s ends with %s of %s", id, got.Type, got.ID)
		}
	}
}

// When a gateway ends, those who wait for a response are told.
func TestShutdown(t *testing.T) {
	r := newRig(t, nil)
	c := r.caller()
	id, l := c.begin("cap:x")
	r.stop()
	if got := c.wantErr(id, "ABORTED", frame.AttributionEnvironment); !strings.Contains(got, "shutting down") {
		t.Errorf("the caller is told %q", got)
	}
	c.gone()
	receive(t, l.closed)
	if err := <-r.ended; err != nil {
		t.Errorf("serve = %v", err)
	}
}

func ExampleStatusCap() {
	fmt.Println(StatusCap)
	// Output: cap:in=media:void;out=media:json;relay-status
}
