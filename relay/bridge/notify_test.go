package bridge_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/cosim-go/cosim/relay/bridge"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/relaytest"
)

// Requirements: S6, N1, C2
func TestTheHostIsAnnouncedFirst(t *testing.T) {
	local, host := socketPair(t)
	socket, remote := socketPair(t)
	write(t, host, wire(t, req(0), chunk(1, 9))) // before the slave runs
	write(t, remote, wire(t, req(0)))
	ended := make(chan error)
	go func() { ended <- bridge.NewSlave(local, nil).Run(t.Context(), socket, ptr(offer(`{"caps":[]}`))) }()
	in := frame.NewReader(remote, nil)
	f, err := in.Next()
	if err != nil || f.Type != frame.TypeRelayNotify || f.ID != frame.Number(0) || f.Seq != 0 {
		t.Fatalf("the first frame is %v, %v, want a relay_notify", f, err)
	}
	n, err := f.Notify()
	if err != nil || string(n.Manifest) != `{"caps":[]}` || n.Limits != offer("").Limits {
		t.Errorf("Notify = %+v, %v, want %+v", n, err, offer(`{"caps":[]}`))
	}
	if _, ok := f.Meta.Uint("initial_credit"); !ok {
		t.Error("no initial_credit: the reference would see no limits at all")
	}
	for _, want := range []frame.Frame{req(0), chunk(1, 9)} {
		if f, err := in.Next(); err != nil || !bytes.Equal(in.Wire(), wire(t, want)) {
			t.Errorf("Next = %v, %v, want %v", f, err, describeFrame(&want))
		}
	}
	expect(t, host, wire(t, req(0)))
	host.Close()
	remote.Close()
	<-ended
}

// Requirement: S6
func TestNothingIsAnnouncedUnlessAsked(t *testing.T) {
	s := start(t, nil, nil)
	s.host.CloseWrite()
	expectEnd(t, s.remote)
}

func TestANotifyThatIsNoFrameFailsRun(t *testing.T) {
	for _, test := range []struct {
		initial frame.Notify
		options *bridge.SlaveOptions
		want    frame.Kind
	}{
		{frame.Notify{Manifest: []byte("{}")}, nil, frame.ErrEncode},
		{offer(strings.Repeat("x", 200)), &bridge.SlaveOptions{MaxFrame: 200}, frame.ErrFrameTooLarge},
	} {
		s := start(t, test.options, &test.initial)
		if err := s.wait(); frame.KindOf(err) != test.want {
			t.Errorf("Run = %v of kind %q, want kind %q", err, frame.KindOf(err), test.want)
		}
		expectEnd(t, s.remote)
		expectEnd(t, s.host)
	}
}

// Requirements: N3, S3
func TestNotifyFromTheHostIsForwarded(t *testing.T) {
	s := start(t, nil, nil)
	odd := append([]byte{}, wire(t, notify(t, `{"caps":["cap:x"]}`))...)
	write(t, s.host, append(odd, wire(t, req(0))...))
	expect(t, s.remote, append(odd, wire(t, req(0))...))
}

// Requirements: N4, S2
func TestNotifyFromTheSocketIsDropped(t *testing.T) {
	s := start(t, nil, nil)
	write(t, s.remote, wire(t, notify(t, "{}"), req(0), notify(t, "{}"), chunk(1, 3), notify(t, "{}")))
	expect(t, s.host, wire(t, req(0), chunk(1, 3)))
	s.remote.CloseWrite()
	expectEnd(t, s.host)
}

// Requirements: N3, S4
func TestSendNotifyWritesToTheSocketAlone(t *testing.T) {
	s := start(t, nil, ptr(offer("1")))
	expect(t, s.remote, wire(t, notify(t, "1")))
	if err := s.slave.SendNotify(offer("2")); err != nil {
		t.Errorf("SendNotify = %v", err)
	}
	expect(t, s.remote, wire(t, notify(t, "2")))
	for _, bad := range []frame.Notify{{Manifest: []byte("x")}, offer(strings.Repeat("x", frame.DefaultMaxFrame))} {
		if err := s.slave.SendNotify(bad); !errors.Is(err, frame.ErrEncode) && !errors.Is(err, frame.ErrFrameTooLarge) {
			t.Errorf("SendNotify of what is no frame = %v", err)
		}
	}
	write(t, s.host, wire(t, req(0)))
	expect(t, s.remote, wire(t, req(0)))
	s.remote.CloseWrite()
	expectEnd(t, s.host)
}

// Requirement: S4
func TestSendNotifyTearsNoFrame(t *testing.T) {
	const senders, each, rounds = 4, 100, 40
	s := start(t, nil, ptr(offer("first")))
	var load []byte
	for i, size := range []int{1, 300, 40 << 10, 0, 70, 70 << 10, 5000, 33 << 10} {
		load = append(load, wire(t, chunk(uint64(i), size))...)
	}
	load = append(load, wire(t, bodyEnd(8))...)
	var sending sync.WaitGroup
	for i := range senders {
		sending.Go(func() {
			manifest := strings.Repeat("m", 1+i*20_000)
			for n := range each {
				if err := s.slave.SendNotify(offer(fmt.Sprint(i, " ", n, " ", manifest))); err != nil {
					t.Errorf("SendNotify = %v", err)
				}
			}
		})
	}
	sending.Go(func() {
		for range rounds {
			s.host.Write(load)
		}
	})
	var got []byte
	next := make([]int, senders)
	in := frame.NewReader(s.remote, nil)
	for notifies := 0; len(got) < rounds*len(load) || notifies < 1+senders*each; {
		f, err := in.Next()
		if err != nil {
			t.Fatalf("Next = %v", err)
		}
		if f.Type != frame.TypeRelayNotify {
			got = append(got, in.Wire()...)
			continue
		}
		notifies++
		if m, _ := f.Manifest(); string(m) != "first" {
			checkNotify(t, m, next)
		}
	}
	sending.Wait()
	if want := bytes.Repeat(load, rounds); !bytes.Equal(got, want) {
		t.Error("the host's frames arrived changed")
	}
}

// checkNotify tests that each sender's notifies arrive whole and in order.
func checkNotify(t *testing.T, manifest []byte, next []int) {
	t.Helper()
	head, filler, ok := strings.Cut(string(manifest), " m")
	var sender, number int
	if _, err := fmt.Sscan(head, &sender, &number); err != nil || !ok {
		t.Fatalf("manifest %.40q: %v", manifest, err)
	}
	if strings.Trim(filler, "m") != "" || len(filler) != sender*20_000 || number != next[sender] {
		t.Errorf("notify %d of sender %d has %d bytes, want number %d", number, sender, len(filler), next[sender])
	}
	next[sender]++
}

// Requirement: S4
func TestSendNotifyIsForWhileTheSlaveRuns(t *testing.T) {
	local, host := socketPair(t)
	socket, remote := socketPair(t)
	slave := bridge.NewSlave(local, nil)
	if err := slave.SendNotify(offer("early")); err != bridge.ErrNotStarted {
		t.Errorf("SendNotify before Run = %v, want %v", err, bridge.ErrNotStarted)
	}
	ended := make(chan error)
	go func() { ended <- slave.Run(t.Context(), socket, ptr(offer("1"))) }()
	expect(t, remote, wire(t, notify(t, "1")))
	host.CloseWrite()
	expectEnd(t, remote)
	if err := slave.SendNotify(offer("late")); err != bridge.ErrEnded {
		t.Errorf("SendNotify after the host ended its direction = %v, want %v", err, bridge.ErrEnded)
	}
	remote.Close()
	if err := <-ended; err != nil {
		t.Errorf("Run = %v", err)
	}
	if err := slave.SendNotify(offer("late")); err != bridge.ErrEnded {
		t.Errorf("SendNotify after Run = %v, want %v", err, bridge.ErrEnded)
	}
	host.Close()
}

// Requirement: S4
func TestTheEndWaitsForANotifyThatIsBeingSent(t *testing.T) {
	s := start(t, nil, ptr(offer("1")))
	expect(t, s.remote, wire(t, notify(t, "1")))
	large := notify(t, strings.Repeat("x", 3<<20)) // more than a socket holds
	sent := make(chan error)
	go func() { sent <- s.slave.SendNotify(offer(strings.Repeat("x", 3<<20))) }()
	b := wire(t, large)
	expect(t, s.remote, b[:1]) // it has begun
	s.host.CloseWrite()
	expect(t, s.remote, b[1:])
	expectEnd(t, s.remote)
	if err := <-sent; err != nil {
		t.Errorf("SendNotify = %v", err)
	}
}

// Requirements: S4, C5
func TestSendNotifyThatFailsEndsTheRelay(t *testing.T) {
	local, host := socketPair(t)
	socket, remote := socketPair(t)
	torn := errors.New("torn")
	slave := bridge.NewSlave(local, nil)
	ended := make(chan error)
	go func() {
		after := int64(len(wire(t, notify(t, "1"), req(0))))
		cut := relaytest.Inject(socket, relaytest.Faults{WriteCut: &relaytest.Cut{After: after + 3, Err: torn}})
		ended <- slave.Run(t.Context(), cut, ptr(offer("1")))
	}()
	write(t, host, wire(t, req(0)))
	expect(t, remote, wire(t, notify(t, "1"), req(0))) // now the slave waits for more of the host
	if err := slave.SendNotify(offer("2")); !errors.Is(err, torn) || frame.KindOf(err) != frame.ErrIO {
		t.Errorf("SendNotify = %v, want %v of kind %q", err, torn, frame.ErrIO)
	}
	if err := <-ended; !errors.Is(err, torn) {
		t.Errorf("Run = %v, want %v", err, torn)
	}
	expectEnd(t, host)
	host.Close()
	remote.Close()
}
