package bridge_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cosim-go/cosim/relay/bridge"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/relaytest"
)

// Requirements: M1, M2, N1
func TestConnectTakesTheFirstNotify(t *testing.T) {
	m, _ := connect(t, nil)
	if string(m.Manifest()) != "{}" || m.Limits() != offer("").Limits {
		t.Errorf("Manifest, Limits = %q, %+v, want {}, %+v", m.Manifest(), m.Limits(), offer("").Limits)
	}
}

// notifyWith returns a RELAY_NOTIFY with the meta of a good one, but for some names: they have
// other values, or none for nil.
func notifyWith(t testing.TB, change map[string]any) frame.Frame {
	t.Helper()
	all := map[string]any{
		"manifest": []byte("new"), "max_frame": 1000, "max_chunk": 100, "max_reorder_buffer": 10, "initial_credit": 1,
	}
	var b frame.MetaBuilder
	for name, value := range all {
		if other, ok := change[name]; ok {
			value = other
		}
		if value != nil {
			b.Any(name, value)
		}
	}
	meta, err := b.Meta()
	if err != nil {
		t.Fatal(err)
	}
	return frame.Frame{Type: frame.TypeRelayNotify, ID: frame.Number(0), Meta: meta}
}

// Requirement: M1
func TestConnectRefusesWhatIsNoGoodFirstFrame(t *testing.T) {
	tests := []struct {
		name  string
		first []byte
		kind  frame.Kind
		says  string
	}{
		{"the end", nil, frame.ErrHandshake, "closed before relay_notify"},
		{"the end within a length", []byte{0, 0}, frame.ErrUnexpectedEOF, ""},
		{"the end within a frame", wire(t, notify(t, "{}"))[:20], frame.ErrUnexpectedEOF, ""},
		{"a frame too large", []byte{0xff, 0xff, 0xff, 0xff}, frame.ErrFrameTooLarge, ""},
		{"a request", wire(t, req(0)), frame.ErrProtocol, "req"},
		{"a policy", wire(t, frame.NewPolicy(nil)), frame.ErrProtocol, "policy"},
		{"a state", wire(t, frame.NewRelayState(nil)), frame.ErrProtocol, "relay_state"},
		{"a notify without meta", wire(t, frame.Frame{Type: frame.TypeRelayNotify, ID: frame.Number(0)}), frame.ErrProtocol, ""},
		{"no manifest", wire(t, notifyWith(t, map[string]any{"manifest": nil})), frame.ErrProtocol, "manifest"},
		{"a manifest of text", wire(t, notifyWith(t, map[string]any{"manifest": "{}"})), frame.ErrProtocol, "manifest"},
	}
	for _, name := range []string{"max_frame", "max_chunk", "max_reorder_buffer"} {
		for _, value := range []any{nil, 0, -1, "many", 1.5} {
			tests = append(tests, struct {
				name  string
				first []byte
				kind  frame.Kind
				says  string
			}{fmt.Sprint(name, " of ", value), wire(t, notifyWith(t, map[string]any{name: value})), frame.ErrProtocol, name})
		}
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			relaytest.NoLeaks(t)
			link, far := socketPair(t)
			defer far.Close()
			write(t, far, test.first)
			far.CloseWrite()
			_, err := bridge.Connect(t.Context(), link, nil)
			if frame.KindOf(err) != test.kind || !strings.Contains(err.Error(), test.says) {
				t.Errorf("Connect = %v of kind %q, want kind %q and %q in it", err, frame.KindOf(err), test.kind, test.says)
			}
			expectEnd(t, far)
		})
	}
}

// Requirement: M1
func TestConnectReadsNoCreditAsTheDefault(t *testing.T) {
	link, far := socketPair(t)
	defer far.Close()
	write(t, far, wire(t, notifyWith(t, map[string]any{"initial_credit": nil})))
	m, err := bridge.Connect(t.Context(), link, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if got := m.Limits().InitialCredit; got != frame.DefaultCredit {
		t.Errorf("InitialCredit = %d, want %d", got, frame.DefaultCredit)
	}
}

func TestConnectEndsWithItsContext(t *testing.T) {
	relaytest.NoLeaks(t)
	cause := errors.New("the engine stops")
	for _, sent := range []int{0, 3, 20} {
		link, far := socketPair(t)
		write(t, far, wire(t, notify(t, "{}"))[:sent])
		ctx, cancel := context.WithCancelCause(t.Context())
		reading := make(chan struct{})
		go func() {
			<-reading
			cancel(cause)
		}()
		_, err := bridge.Connect(ctx, &signalling{Conn: link, reading: reading}, nil)
		if !errors.Is(err, cause) {
			t.Errorf("Connect after %d bytes = %v, want %v", sent, err, cause)
		}
		expectNothing(t, far)
		far.Close()
	}
	link, far := socketPair(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	write(t, far, wire(t, notify(t, "{}")))
	if _, err := bridge.Connect(ctx, link, nil); !errors.Is(err, cause) {
		t.Errorf("Connect with a context that has ended = %v, want %v", err, cause)
	}
	far.Close()
}

// signalling tells when it is read from for the first time.
type signalling struct {
	relaytest.Conn
	reading chan struct{}
	told    bool
}

// A context that ends later is none of the master's business.
func TestConnectForgetsItsContext(t *testing.T) {
	link, far := socketPair(t)
	defer far.Close()
	write(t, far, wire(t, notify(t, "{}")))
	ctx, cancel := context.WithCancel(t.Context())
	m, err := bridge.Connect(ctx, link, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	cancel()
	write(t, far, wire(t, req(0)))
	expectFrame(t, m, req(0))
}

func (c *signalling) Read(p []byte) (int, error) {
	if !c.told {
		c.told = true
		close(c.reading)
	}
	return c.Conn.Read(p)
}
