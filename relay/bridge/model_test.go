package bridge_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/cosim-go/cosim/relay/bridge"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/relaytest"
)

// random returns a source of random numbers. Its seed is in the log, and can be set with
// BRIDGE_SEED.
func random(t testing.TB) *rand.Rand {
	t.Helper()
	seed := rand.Uint64()
	if text, ok := os.LookupEnv("BRIDGE_SEED"); ok {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("BRIDGE_SEED: %v", err)
		}
	}
	t.Logf("BRIDGE_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// modelSteps is how many frames the random test sends in all, which can be set with BRIDGE_STEPS.
func modelSteps(t *testing.T) int {
	t.Helper()
	if text, ok := os.LookupEnv("BRIDGE_STEPS"); ok {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatalf("BRIDGE_STEPS: %v", err)
		}
		return n
	}
	if testing.Short() {
		return 20_000
	}
	return 100_000
}

// Requirements: R1, R2, S2, S3, S4, C5
func TestTheBridgeIsLikeItsTwins(t *testing.T) {
	relaytest.NoLeaks(t)
	r := random(t)
	fatal := 0
	for steps := 0; steps < modelSteps(t); {
		m := newModelRun(t, r)
		steps += len(m.toHost.program) + len(m.toSocket.program)
		m.run(t)
		if m.wantKind() != "" {
			fatal++
		}
		if t.Failed() {
			t.Fatalf("after %d steps", steps)
		}
	}
	t.Logf("%d runs ended with an error, as they had to", fatal)
}

// A modelRun is a slave with random programs in both directions, and their twins.
type modelRun struct {
	initial          *frame.Notify
	notifies         int
	toHost, toSocket modelWay
}

type modelWay struct {
	program [][]byte
	pieces  int // bytes of each write
	twin    *twin
	kind    frame.Kind // of the error at the program's end
}

func newModelRun(t *testing.T, r *rand.Rand) *modelRun {
	m := &modelRun{notifies: r.IntN(4)}
	held := frame.DefaultMaxHeld
	if r.IntN(3) > 0 {
		held = 1 + r.IntN(6)
		n := offer("first")
		n.Limits.MaxReorderBuffer = uint64(held)
		m.initial = &n
	}
	m.toHost, m.toSocket = newModelWay(t, r, false, held), newModelWay(t, r, true, held)
	if r.IntN(4) > 0 { // most programs end without an error
		m.toHost.program = m.toHost.program[:m.toHost.good()]
		m.toSocket.program = m.toSocket.program[:m.toSocket.good()]
	} else if m.toHost.kind != "" { // and at most one of the two with one, or it is chance which is first
		m.toSocket.program = m.toSocket.program[:m.toSocket.good()]
	}
	return m
}

// good returns how many steps are without an error, and forgets that there is one.
func (w *modelWay) good() int {
	if w.kind == "" {
		return len(w.program)
	}
	w.kind = ""
	return len(w.program) - 1
}

func (m *modelRun) wantKind() frame.Kind {
	if m.toHost.kind != "" {
		return m.toHost.kind
	}
	return m.toSocket.kind
}

// newModelWay makes a program, which ends with what the twin takes as an error, if with nothing
// earlier.
func newModelWay(t *testing.T, r *rand.Rand, fromHost bool, held int) modelWay {
	g := newTraffic(t, r.Uint64(), 1+r.IntN(10), func(r *rand.Rand) int {
		if r.IntN(200) == 0 {
			return r.IntN(80 << 10)
		}
		return r.IntN(100)
	})
	g.reuse = r.IntN(2) == 0
	var steps [][]byte
	for range r.IntN(600) {
		steps = append(steps, modelStep(t, r, g, fromHost))
	}
	steps = relaytest.Shuffle(steps, relaytest.Disorder{Window: r.IntN(held + 1), KeepFlows: g.reuse, Rand: r})
	steps = append(steps, fatalSteps(t, r, fromHost, steps)...)

	w := modelWay{twin: newTwin(fromHost, held), pieces: 1 + r.IntN(1<<r.IntN(18))}
	for i, step := range steps {
		if w.kind = w.twin.take(step); w.kind != "" {
			w.program = steps[:i+1]
			return w
		}
	}
	w.program = steps
	return w
}

func modelStep(t *testing.T, r *rand.Rand, g *traffic, fromHost bool) []byte {
	f := g.next()
	switch r.IntN(60) {
	case 0:
		f = frame.NewRelayState([]byte(strconv.Itoa(r.Int())))
	case 1:
		f = stateWithoutPayload()
	case 2:
		f = notify(t, "other")
	case 3:
		if !fromHost {
			f = frame.NewPolicy([]byte("p"))
		}
	}
	b := wire(t, f)
	if r.IntN(4) == 0 {
		b = withUnknownKey(b)
	}
	return b
}

// withUnknownKey returns a canonical frame with key 99 at its end.
func withUnknownKey(wire []byte) []byte {
	body := append(bytes.Clone(wire[frame.PrefixSize:]), 0x18, 99, 0xf6)
	body[0]++
	return prefixed(body)
}

// fatalSteps returns what most likely ends the relay.
func fatalSteps(t *testing.T, r *rand.Rand, fromHost bool, steps [][]byte) [][]byte {
	early := wire(t, frame.Frame{Type: frame.TypeReq, ID: other, Seq: 1})
	switch dice := r.IntN(5); {
	case dice == 0 && fromHost:
		return [][]byte{wire(t, frame.NewPolicy(nil))}
	case dice == 1:
		return [][]byte{prefixed([]byte{0xff})}
	case dice == 2:
		return [][]byte{prefixed([]byte{0xa0})}
	case dice == 3 || len(steps) == 0:
		return [][]byte{early, early}
	}
	return [][]byte{steps[r.IntN(len(steps))]} // once more
}

func (m *modelRun) run(t *testing.T) {
	t.Helper()
	var states []string
	local, host := socketPair(t)
	socket, remote := socketPair(t)
	slave := bridge.NewSlave(local, &bridge.SlaveOptions{OnState: func(p []byte) { states = append(states, string(p)) }})
	var ends sync.WaitGroup
	ends.Go(func() { m.toSocket.say(host) })
	ends.Go(func() { m.toHost.say(remote) })
	var atHost, atSocket []byte
	ends.Go(func() { atHost, _ = io.ReadAll(host) })
	ends.Go(func() { atSocket, _ = io.ReadAll(remote) })
	sent := 0
	ends.Go(func() {
		for range m.notifies {
			if slave.SendNotify(offer("sent")) == nil {
				sent++
			}
		}
	})
	err := slave.Run(t.Context(), socket, m.initial)
	ends.Wait()
	host.Close()
	remote.Close()
	m.check(t, slave, err, states, atHost, atSocket, sent)
}

// say writes the program and ends the direction.
func (w *modelWay) say(c relaytest.Conn) {
	all := bytes.Join(w.program, nil)
	for piece := max(w.pieces, len(all)/1000); len(all) > 0; {
		n := min(len(all), piece)
		if _, err := c.Write(all[:n]); err != nil {
			return
		}
		all = all[n:]
	}
	c.CloseWrite()
}

func (m *modelRun) check(t *testing.T, slave *bridge.Slave, err error, states []string, atHost, atSocket []byte, sent int) {
	t.Helper()
	if frame.KindOf(err) != m.wantKind() || (err == nil) != (m.wantKind() == "") {
		t.Errorf("Run = %v of kind %q, want kind %q", err, frame.KindOf(err), m.wantKind())
	}
	announced := wire(t, notify(t, "sent"))
	atSocket, seen := without(atSocket, announced)
	want := m.toSocket.twin.out
	if m.initial != nil {
		f, _ := frame.NewRelayNotify(*m.initial)
		want = append(wire(t, f), want...)
	}
	if err != nil {
		if !bytes.HasPrefix(m.toHost.twin.out, atHost) || !bytes.HasPrefix(want, atSocket) {
			t.Error("what arrived before the error is not what was due")
		}
		return
	}
	if !bytes.Equal(m.toHost.twin.out, atHost) || !bytes.Equal(want, atSocket) {
		t.Errorf("%d bytes arrived at the host and %d at the socket, or others, want %d and %d",
			len(atHost), len(atSocket), len(m.toHost.twin.out), len(want))
	}
	if seen != sent {
		t.Errorf("%d of %d notifies arrived", seen, sent)
	}
	if got, want := strings.Join(states, " "), strings.Join(m.toHost.twin.states, " "); got != want {
		t.Errorf("states %s, want %s", got, want)
	}
	stats := bridge.Stats{ToLocal: m.toHost.twin.counters(), ToSocket: m.toSocket.twin.counters()}
	if got := slave.Stats(); got != stats {
		t.Errorf("Stats = %+v, want %+v", got, stats)
	}
}

// without returns the frames that are not as the one given, and how many are. The beginning of
// a frame stays.
func without(b, one []byte) (rest []byte, count int) {
	for len(b) >= frame.PrefixSize {
		n := frame.PrefixSize + int(uint32(b[0])<<24|uint32(b[1])<<16|uint32(b[2])<<8|uint32(b[3]))
		if n > len(b) {
			break
		}
		if bytes.Equal(b[:n], one) {
			count++
		} else {
			rest = append(rest, b[:n]...)
		}
		b = b[n:]
	}
	if !bytes.HasPrefix(one, b) {
		rest = append(rest, b...)
	}
	return rest, count
}
