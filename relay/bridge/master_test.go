package bridge_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/cosim-go/cosim/relay/bridge"
	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/relaytest"
)

// connect returns a master whose slave is the test, at the far end.
func connect(t *testing.T, o *bridge.MasterOptions) (m *bridge.Master, far relaytest.Conn) {
	t.Helper()
	relaytest.NoLeaks(t)
	link, far := socketPair(t)
	t.Cleanup(func() { far.Close() })
	write(t, far, wire(t, notify(t, "{}")))
	m, err := bridge.Connect(t.Context(), link, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m, far
}

func expectFrame(t testing.TB, m *bridge.Master, want frame.Frame) {
	t.Helper()
	f, err := m.ReadFrame()
	if err != nil {
		t.Fatalf("ReadFrame = %v, want %v", err, describeFrame(&want))
	}
	if !bytes.Equal(wire(t, *f), wire(t, want)) {
		t.Fatalf("ReadFrame = %v, want %v", describeFrame(f), describeFrame(&want))
	}
}

// Requirements: M2, M3, N3, N4
func TestReadFrameTakesInNotifies(t *testing.T) {
	var calls []string
	m, far := connect(t, &bridge.MasterOptions{OnNotify: func(n frame.Notify) {
		calls = append(calls, fmt.Sprint(string(n.Manifest), " ", n.Limits.MaxChunk))
	}})
	kept := [][]byte{m.Manifest()}
	write(t, far, wire(t,
		notifyWith(t, nil), req(0),
		notifyWith(t, map[string]any{"manifest": nil, "max_chunk": 200}), chunk(1, 1),
		notifyWith(t, map[string]any{"manifest": []byte("newer"), "max_frame": 0}), chunk(2, 1),
		notifyWith(t, map[string]any{"manifest": 7, "max_chunk": nil}), bodyEnd(3)))
	for i, want := range []struct {
		frame    frame.Frame
		manifest string
		chunk    uint64
	}{{req(0), "new", 100}, {chunk(1, 1), "new", 200}, {chunk(2, 1), "newer", 200}, {bodyEnd(3), "newer", 200}} {
		expectFrame(t, m, want.frame)
		if got := string(m.Manifest()); got != want.manifest || m.Limits().MaxChunk != want.chunk {
			t.Errorf("Manifest, MaxChunk = %q, %d after notify %d, want %q, %d", got, m.Limits().MaxChunk, i+1, want.manifest, want.chunk)
		}
		kept = append(kept, m.Manifest())
	}
	if got := strings.Join(calls, ", "); got != "new 100, new 200, newer 200, newer 200" {
		t.Errorf("OnNotify was called with %q", got)
	}
	large := wire(t, numbered(frame.NewReq(rid, nil), 0), chunk(1, 100<<10))
	write(t, far, large) // where the others were
	expectFrame(t, m, numbered(frame.NewReq(rid, nil), 0))
	expectFrame(t, m, chunk(1, 100<<10))
	if got := string(bytes.Join(kept, []byte(" "))); got != "{} new new newer newer" {
		t.Errorf("earlier manifests are %q now", got)
	}
}

// Requirements: M3, N4
func TestReadFrameReturnsWhatIsForTheSwitch(t *testing.T) {
	m, far := connect(t, nil)
	others := control(t)
	write(t, far, wire(t, append([]frame.Frame{
		frame.NewRelayState([]byte("a")), stateWithoutPayload(), chunk(2, 5), bodyEnd(3), chunk(1, 33<<10),
	}, append(others, req(0), req(0), errFrame(t, 1), req(0))...)...))
	for _, want := range append(others, req(0), chunk(1, 33<<10), chunk(2, 5), bodyEnd(3), req(0), errFrame(t, 1), req(0)) {
		expectFrame(t, m, want)
	}
	far.CloseWrite()
	for range 2 {
		if f, err := m.ReadFrame(); err != io.EOF {
			t.Errorf("ReadFrame at the end = %v, %v, want EOF", f, err)
		}
	}
	if err := m.Send(ptr(req(0))); err != nil {
		t.Errorf("Send after the end of the other direction = %v", err)
	}
	expect(t, far, wire(t, req(0)))
}

// Requirement: M3
func TestReadFrameRefusesFramesAgainstTheirOrder(t *testing.T) {
	tests := []struct {
		name string
		in   []frame.Frame
		want error
	}{
		{"one that was delivered", []frame.Frame{req(0), chunk(0, 1)}, flow.ErrStale},
		{"one that is held", []frame.Frame{req(0), chunk(2, 1), chunk(2, 1)}, flow.ErrDuplicate},
		{"one above the limit announced", []frame.Frame{req(0), chunk(2, 1), chunk(3, 1), chunk(4, 1), chunk(5, 1), chunk(6, 1)}, flow.ErrOverflow},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			m, far := connect(t, nil)
			write(t, far, wire(t, test.in...))
			expectFrame(t, m, req(0))
			for range 2 {
				if f, err := m.ReadFrame(); !errors.Is(err, test.want) || frame.KindOf(err) != frame.ErrProtocol {
					t.Errorf("ReadFrame = %v, %v, want %v of kind %q", f, err, test.want, frame.ErrProtocol)
				}
			}
			expectNothing(t, far)
		})
	}
}

// Requirement: M3. The limit is that of the first notify, whatever comes later.
func TestTheMastersReorderLimitStays(t *testing.T) {
	m, far := connect(t, nil)
	write(t, far, wire(t, notifyWith(t, nil), chunk(4, 1), chunk(3, 1), chunk(2, 1), chunk(1, 1), chunk(5, 1)))
	if f, err := m.ReadFrame(); !errors.Is(err, flow.ErrOverflow) {
		t.Errorf("ReadFrame = %v, %v, want %v", f, err, flow.ErrOverflow)
	}
}

// Requirements: M1, M2, N4
func TestUpdateIsForWhoReadsFromTheReader(t *testing.T) {
	m, far := connect(t, nil)
	write(t, far, wire(t, notifyWith(t, nil), chunk(9, 1)))
	f, err := m.Reader().Next()
	if err != nil || f.Type != frame.TypeRelayNotify {
		t.Fatalf("Next = %v, %v, want a relay_notify", f, err)
	}
	m.Update(f)
	if string(m.Manifest()) != "new" || m.Limits().MaxChunk != 100 {
		t.Errorf("Manifest, MaxChunk = %q, %d, want new, 100", m.Manifest(), m.Limits().MaxChunk)
	}
	if f, err = m.Reader().Next(); err != nil || f.Seq != 9 {
		t.Errorf("Next = %v, %v, want the chunk, whatever its number", f, err)
	}
}

// Requirements: M3, ST1, PO1
func TestMasterSends(t *testing.T) {
	m, far := connect(t, nil)
	var b frame.MetaBuilder
	b.Text("by", "engine")
	meta, err := b.Meta()
	if err != nil {
		t.Fatal(err)
	}
	policy := frame.NewPolicy([]byte("p"))
	policy.Meta = meta
	large := chunk(7, 100<<10)
	for _, test := range []struct {
		name string
		send func() error
		want frame.Frame
	}{
		{"Send", func() error { return m.Send(ptr(req(5))) }, req(5)},
		{"Send of a large frame", func() error { return m.Send(&large) }, large},
		{"SendState", func() error { return m.SendState([]byte("s")) }, frame.NewRelayState([]byte("s"))},
		{"SendState of nothing", func() error { return m.SendState(nil) }, frame.NewRelayState([]byte{})},
		{"SendPolicy", func() error { return m.SendPolicy(meta, []byte("p")) }, policy},
		{"SendPolicy of nothing", func() error { return m.SendPolicy(frame.Meta{}, nil) }, frame.NewPolicy(nil)},
	} {
		if err := test.send(); err != nil {
			t.Errorf("%s = %v", test.name, err)
		}
		expect(t, far, wire(t, test.want))
	}
	if err := m.Send(&frame.Frame{Type: frame.TypeReq}); frame.KindOf(err) != frame.ErrEncode {
		t.Errorf("Send of what is no frame = %v, want kind %q", err, frame.ErrEncode)
	}
	if err := m.Writer().Write(ptr(req(0))); err != nil {
		t.Errorf("Write = %v", err)
	}
	if err := m.SendState([]byte("s")); err != nil {
		t.Errorf("SendState = %v", err)
	}
	expect(t, far, wire(t, req(0), frame.NewRelayState([]byte("s"))))
	m.CloseWrite()
	expectEnd(t, far)
	if err := m.Send(ptr(req(0))); frame.KindOf(err) != frame.ErrIO {
		t.Errorf("Send after CloseWrite = %v, want kind %q", err, frame.ErrIO)
	}
	write(t, far, wire(t, req(0)))
	expectFrame(t, m, req(0))
}

func TestCloseEndsAWaitingReadFrame(t *testing.T) {
	m, far := connect(t, nil)
	got := make(chan error)
	go func() {
		_, err := m.ReadFrame()
		got <- err
	}()
	for range 2 {
		if err := m.Close(); err != nil {
			t.Errorf("Close = %v", err)
		}
	}
	if err := <-got; frame.KindOf(err) != frame.ErrIO {
		t.Errorf("ReadFrame = %v, want kind %q", err, frame.ErrIO)
	}
	expectEnd(t, far)
}

func TestCloseWriteClosesALinkWithoutHalves(t *testing.T) {
	link, far := socketPair(t)
	defer far.Close()
	write(t, far, wire(t, notify(t, "{}")))
	m, err := bridge.Connect(t.Context(), whole{link}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.CloseWrite(); err != nil {
		t.Errorf("CloseWrite = %v", err)
	}
	expectEnd(t, far)
	if _, err := m.ReadFrame(); frame.KindOf(err) != frame.ErrIO {
		t.Errorf("ReadFrame = %v, want kind %q", err, frame.ErrIO)
	}
}

// whole is a link that ends as a whole alone.
type whole struct{ io.ReadWriteCloser }

func TestMasterCountsAndSaysWhatItDrops(t *testing.T) {
	var log bytes.Buffer
	m, far := connect(t, &bridge.MasterOptions{
		Name: "gpu-a", Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	write(t, far, wire(t, req(0), chunk(3, 1), bodyEnd(1), frame.NewRelayState(nil), notify(t, "x"), chunk(8, 1)))
	far.CloseWrite()
	for range 2 {
		if _, err := m.ReadFrame(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := m.ReadFrame(); err != io.EOF {
		t.Fatal(err)
	}
	want := bridge.Counters{Frames: 2, Bytes: uint64(len(wire(t, req(0), bodyEnd(1)))), Kept: 1, Dropped: 1, Held: 1, Lost: 1}
	if got := m.Stats(); got != want {
		t.Errorf("Stats = %+v, want %+v", got, want)
	}
	for _, line := range []string{"slave=gpu-a type=relay_state", "slave=gpu-a frames=1"} {
		if !strings.Contains(log.String(), line) {
			t.Errorf("the log does not say %q:\n%s", line, log.String())
		}
	}
}
