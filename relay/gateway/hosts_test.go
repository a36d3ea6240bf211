package gateway

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/cosim-go/cosim/relay/frame"
)

// notifyOf returns the RELAY_NOTIFY of a host that has some cartridges.
func notifyOf(t *testing.T, ids ...string) frame.Frame {
	t.Helper()
	var records []string
	for _, id := range ids {
		records = append(records, `{"registry_url":null,"channel":"release","id":"`+id+`","version":"1","sha256":""}`)
	}
	f, err := frame.NewRelayNotify(frame.Notify{
		Manifest: []byte(`{"installed_cartridges":[` + strings.Join(records, ",") + `]}`), Limits: frame.DefaultLimits(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// join connects a host and returns what the switch got.
func (r *rig) join(ids ...string) (*raw, joining) {
	r.Helper()
	c := r.connect()
	c.write(notifyOf(r.T, ids...))
	j := receive(r.T, r.engine.joined)
	receive(r.T, r.joined)
	return c, j
}

// A host goes to the switch with all that it has said, and what is said later goes both ways.
func TestHostIsPassedOnWhole(t *testing.T) {
	r := newRig(t, nil)
	c := r.connect()
	notify := notifyOf(t, strings.Repeat("x", 200_000))
	body, err := notify.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		c.out.Write(&notify)
		c.out.Flush()
		c.conn.Write([]byte("more"))
	}()
	j := receive(t, r.engine.joined)
	got := make([]byte, frame.PrefixSize+len(body)+len("more"))
	if _, err := io.ReadFull(j.conn, got); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got[frame.PrefixSize:], append(body, "more"...)) {
		t.Error("the switch does not get what the host said")
	}
	if _, err := j.conn.Write([]byte("yes")); err != nil {
		t.Fatal(err)
	}
	c.conn.SetReadDeadline(time.Now().Add(patience))
	if _, err := io.ReadFull(c.conn, got[:3]); err != nil || string(got[:3]) != "yes" {
		t.Errorf("the host gets %q, %v", got[:3], err)
	}
	if got, want := receive(t, r.joined), (Joined{Host: "host-1", PID: os.Getpid()}); got != want {
		t.Errorf("joined: %+v, want %+v", got, want)
	}
	j.conn.Close()
	c.gone()
}

// A host gets its id again when it comes back: the one whose cartridges it has, and of several of those the one of its
// process.
func TestHostsKeepTheirIDs(t *testing.T) {
	r := newRig(t, &Options{MaxHosts: 4})
	join := func(want string, ids ...string) {
		t.Helper()
		if _, j := r.join(ids...); j.id != want {
			t.Errorf("the host with %q is %s, want %s", ids, j.id, want)
		}
	}
	join("host-1", "a")
	join("host-2", "b", "c")
	join("host-3", "a")
	r.engine.lose("host-2")
	r.engine.lose("host-1")
	join("host-2", "c", "b")
	join("host-1", "a")
	r.engine.lose("host-3")
	join("host-4", "d") // not host-3: there is room
	join("host-3", "e") // there is none, and it has been lost
	r.engine.lose("host-2")
	r.engine.lose("host-1") // joined after host-2
	join("host-2", "f")
	join("host-1", "f")
	c := r.connect()
	c.write(notifyOf(t, "g"))
	c.gone()
	r.stop()
	<-r.ended
	if got := r.log.String(); !strings.Contains(got, "4 hosts are there") {
		t.Errorf("the gateway logged %q", got)
	}
}

// The place of a host that has not joined is the next one's.
func TestChooseUsesPlacesAgain(t *testing.T) {
	h := hosts{engine: newStubEngine(), max: 10}
	first, err := h.choose("a", 1)
	if err != nil {
		t.Fatal(err)
	}
	h.settle(first, "a", 1, false)
	again, err := h.choose("b", 2)
	if err != nil || again.id != "host-1" {
		t.Errorf("choose = %v, %v", again, err)
	}
	if other, err := h.choose("b", 2); err != nil || other.id != "host-2" {
		t.Errorf("choose while host-1 joins = %v, %v", other, err)
	}
}

// Of hosts with the same cartridges the process decides.
func TestChooseByProcess(t *testing.T) {
	e := newStubEngine()
	h := hosts{engine: e, max: 10}
	for _, pid := range []int{11, 12, 13} {
		s, err := h.choose("a", pid)
		if err != nil {
			t.Fatal(err)
		}
		e.attached[s.id] = true
		h.settle(s, "a", pid, true)
	}
	clear(e.attached)
	for _, test := range []struct {
		has  string
		pid  int
		want string
	}{{"a", 12, "host-2"}, {"a", 13, "host-3"}, {"a", 99, "host-1"}, {"", 12, "host-4"}} {
		s, err := h.choose(test.has, test.pid)
		if err != nil || s.id != test.want {
			t.Errorf("choose(%q, %d) = %v, %v, want %s", test.has, test.pid, s, err, test.want)
		}
	}
}

// A socket of one host takes that host alone, and nobody who calls.
func TestNamedHost(t *testing.T) {
	r := newRig(t, &Options{Host: "gpu-a"})
	if _, j := r.join("a"); j.id != "gpu-a" {
		t.Errorf("the host is %s", j.id)
	}
	r.engine.lose("gpu-a")
	if _, j := r.join("other"); j.id != "gpu-a" {
		t.Errorf("the next host is %s", j.id)
	}
	c := r.connect()
	hello, _ := frame.NewHello(frame.Hello{Limits: frame.DefaultLimits()})
	c.write(hello)
	c.gone()
	r.stop()
	<-r.ended
	if got := r.log.String(); !strings.Contains(got, "this socket is for hosts") {
		t.Errorf("the gateway logged %q", got)
	}
}

// Who says something else first, or half of it, or nothing for too long, is sent away.
func TestBadGreetings(t *testing.T) {
	for name, test := range map[string]struct {
		say  func(c *raw)
		want string
	}{
		"a request":     {func(c *raw) { c.write(frame.NewReq(frame.NewUUID(), []byte("cap:x"))) }, "a req frame comes first"},
		"bytes":         {func(c *raw) { c.conn.Write([]byte("hello, world")) }, "are taken"},
		"half a frame":  {func(c *raw) { c.conn.Write([]byte{0, 0, 0, 99, 1}); c.conn.CloseWrite() }, "of a frame's 99 bytes"},
		"a bad hello":   {func(c *raw) { c.write(frame.Frame{Type: frame.TypeHello, ID: frame.Number(0)}) }, "version"},
		"nothing":       {func(c *raw) { c.conn.CloseWrite() }, ""},
		"nothing, long": {func(c *raw) {}, "nothing was said within 100ms"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, &Options{HelloLimit: 100 * time.Millisecond})
			c := r.connect()
			test.say(c)
			c.gone()
			r.stop()
			<-r.ended
			if got := r.log.String(); !strings.Contains(got, test.want) || (test.want == "") != (got == "") {
				t.Errorf("the gateway logged %q, want %q", got, test.want)
			}
		})
	}
}

// A caller for whom there is no place is sent away.
func TestTooManyCallers(t *testing.T) {
	r := newRig(t, &Options{MaxCallers: 2})
	r.caller()
	r.caller()
	c := r.connect()
	hello, _ := frame.NewHello(frame.Hello{Limits: frame.DefaultLimits()})
	c.write(hello)
	c.gone()
	r.join("a") // hosts do not count
}
