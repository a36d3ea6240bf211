package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/relaytest"
	"github.com/cosim-go/cosim/relay/route"
)

// serveSwitch serves a real switch, and returns the path of its socket.
func serveSwitch(t *testing.T, o *Options) (s *route.Switch, path string) {
	t.Helper()
	relaytest.NoLeaks(t)
	s, err := route.New(t.Context(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- Serve(ctx, l, s, o) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		s.Close()
	})
	return s, path
}

// A scripted is a host that echoes what it is asked for, as far as its tests need.
type scripted struct {
	in   *frame.Reader
	out  *frame.Writer
	conn net.Conn
	seq  map[frame.ID]uint64
}

// joinScripted joins a host that serves some caps beside identity.
func joinScripted(t *testing.T, path string, manifest string) *scripted {
	t.Helper()
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	h := &scripted{frame.NewReader(conn, nil), frame.NewWriter(conn, nil), conn, map[frame.ID]uint64{}}
	notify, err := frame.NewRelayNotify(frame.Notify{Manifest: []byte(manifest), Limits: frame.DefaultLimits()})
	if err != nil {
		t.Fatal(err)
	}
	h.send(&notify)
	done := make(chan struct{})
	go func() {
		defer close(done)
		h.serve()
	}()
	t.Cleanup(func() {
		conn.Close()
		<-done
	})
	return h
}

func (h *scripted) send(f *frame.Frame) {
	if f.Type.Flow() {
		f.Seq = h.seq[f.RoutingID]
		h.seq[f.RoutingID]++
	}
	h.out.Write(f)
	h.out.Flush()
}

// serve sends back what comes, chunk by chunk. A request for cap:silent gets no answer.
func (h *scripted) serve() {
	silent := map[frame.ID]bool{}
	for {
		f, err := h.in.Next()
		if err != nil {
			return
		}
		switch {
		case f.Type == frame.TypeReq:
			silent[f.ID] = string(f.Cap) == "cap:silent"
		case silent[f.ID]:
		case f.Type == frame.TypeChunk:
			grant := frame.NewCredit(f.ID, bytes.Clone(f.StreamID), 1, frame.RequestDirection)
			grant.RoutingID = f.RoutingID
			h.send(f)
			h.send(&grant)
		case f.Type == frame.TypeEnd:
			end, _ := frame.NewEnd(f.ID, frame.EndInfo{ExitCode: frame.Some[int64](0)})
			end.RoutingID = f.RoutingID
			h.send(&end)
		case f.Type == frame.TypeStreamStart, f.Type == frame.TypeStreamEnd:
			h.send(f)
		}
	}
}

const twoCaps = `{"caps":["cap:effect=none","cap:echo","cap:silent"],"installed_cartridges":[]}`

// Callers reach the hosts of a real switch, and the status tells of both.
func TestServeSwitch(t *testing.T) {
	s, path := serveSwitch(t, nil)
	s.Expect(1)
	joinScripted(t, path, twoCaps)
	if err := s.WaitReady(t.Context()); err != nil {
		t.Fatal(err)
	}
	c, err := Dial(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var all sync.WaitGroup
	for i := range 30 {
		all.Go(func() {
			want := bytes.Repeat([]byte{byte(i)}, i*20_000)
			if got, err := call.Do(t.Context(), c, "cap:echo", call.Bytes("media:", want)); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%d bytes come back as %d, %v", len(want), len(got), err)
			}
		})
	}
	all.Wait()
	_, err = call.Do(t.Context(), c, "cap:nobody")
	if !errors.Is(err, &call.Error{Code: "NO_HANDLER", Attribution: frame.AttributionEnvironment}) {
		t.Errorf("a cap that nobody serves: %v", err)
	}
	_, err = c.Open(t.Context(), call.Request{Cap: "cap:echo", Cartridge: "nowhere"})
	if !errors.Is(err, &call.Error{Code: "NO_HANDLER"}) {
		t.Errorf("a cartridge that is not there: %v", err)
	}
	data, err := c.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var status Status
	if err := json.Unmarshal(data, &status); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(status)
	if err != nil || !bytes.Equal(again, data) {
		t.Errorf("the status is\n%s\nand written again\n%s, %v", data, again, err)
	}
	r := status.Protocol.Requests
	if !status.Ready || status.Callers != 1 || len(status.Masters) != 1 || !status.Masters[0].Healthy || status.Masters[0].ID != "host-1" ||
		len(status.Capabilities) != 3 || len(r.Active) != 0 || r.TerminatedByKind["end"] < 30 || status.Protocol.Drops.Total != 0 {
		t.Errorf("the status is %s", data)
	}
}

// With its connection a caller's requests end at the switch.
func TestCallerGoesFromSwitch(t *testing.T) {
	s, path := serveSwitch(t, nil)
	s.Expect(1)
	joinScripted(t, path, twoCaps)
	if err := s.WaitReady(t.Context()); err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	c, err := NewClient(t.Context(), conn)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	l, err := c.Open(t.Context(), call.Request{Cap: "cap:silent"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if n := len(s.Stats().Requests.Active); n != 1 {
		t.Errorf("%d requests run", n)
	}
	conn.Close()
	other, err := Dial(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	for len(s.Stats().Requests.Active) > 0 { // each status is a wait for the switch
		if _, err := other.Status(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.Stats().Requests.RecentTerminated; len(got) == 0 || got[len(got)-1].CancelCode != "ABORTED" || got[len(got)-1].CancelClass != "environment" {
		t.Errorf("the request ended with %+v", got)
	}
}

// A host that comes back is the same master.
func TestHostComesBackToSwitch(t *testing.T) {
	joined := make(chan Joined, 10)
	s, path := serveSwitch(t, &Options{Joined: func(j Joined) { joined <- j }})
	first := joinScripted(t, path, twoCaps)
	if j := receive(t, joined); j.Host != "host-1" || j.Again {
		t.Errorf("joined: %+v", j)
	}
	first.conn.Close()
	for !s.AcceptsAttach("host-1") {
		runtime.Gosched()
	}
	joinScripted(t, path, twoCaps)
	if j := receive(t, joined); j.Host != "host-1" || !j.Again {
		t.Errorf("joined: %+v", j)
	}
	joinScripted(t, path, twoCaps)
	if j := receive(t, joined); j.Host != "host-2" || j.Again {
		t.Errorf("joined: %+v", j)
	}
	if h := s.Health(); len(h) != 2 || !h[0].Healthy || !h[1].Healthy {
		t.Errorf("the masters are %+v", h)
	}
}
