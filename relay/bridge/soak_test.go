package bridge_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/cosim-go/cosim/relay/bridge"
	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/relaytest"
)

// soakFrames is how many frames the soak sends in all, which can be set with BRIDGE_SOAK.
func soakFrames(t *testing.T) int {
	t.Helper()
	if text, ok := os.LookupEnv("BRIDGE_SOAK"); ok {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatalf("BRIDGE_SOAK: %v", err)
		}
		return n
	}
	if testing.Short() {
		return 20_000
	}
	return 100_000
}

// Requirements: R1, R2, S2, S3, S4, M3, C5. A host, two slaves in a row and a master, both
// directions at once, with delays, frames out of order, and an end of each direction at another
// time: nothing is lost, doubled or out of its flow's order at the far end.
func TestSoak(t *testing.T) {
	relaytest.NoLeaks(t)
	r := random(t)
	total, begin := soakFrames(t), time.Now()
	carried := soakSums{}
	rounds := 0
	for ; carried.frames < uint64(total); rounds++ {
		s := newSoak(t, r, min(total, 150_000))
		carried.add(s.run(t))
		if t.Failed() {
			t.Fatalf("round %d", rounds)
		}
	}
	took := time.Since(begin)
	t.Logf("%d frames of %d requests in %d rounds, %d bytes, in %v: %.0f frames a second over both bridges",
		carried.frames, carried.requests, rounds, carried.bytes, took.Round(time.Millisecond), float64(carried.frames)/took.Seconds())
}

// soakSums is what arrived, or was sent.
type soakSums struct {
	frames, bytes, requests      uint64
	credits, creditSum, policies uint64
}

func (a *soakSums) add(b soakSums) {
	a.frames += b.frames
	a.bytes += b.bytes
	a.requests += b.requests
}

// A soak is one round: host, slave, slave, master.
type soak struct {
	host             relaytest.Conn
	master           *bridge.Master
	near, far        *bridge.Slave
	running          sync.WaitGroup
	notifies         int // that the master has seen
	toHost, toMaster *soakSource
}

func newSoak(t *testing.T, r *rand.Rand, frames int) *soak {
	t.Helper()
	s := &soak{toHost: newSoakSource(t, r, frames), toMaster: newSoakSource(t, r, frames)}
	local, host := socketPair(t)
	upper, lower := socketPair(t)
	socket, remote := socketPair(t)
	s.host = s.toMaster.disordered(host)
	s.near, s.far = bridge.NewSlave(late(r, local), nil), bridge.NewSlave(late(r, lower), nil)
	upper, socket = late(r, upper), late(r, socket)
	s.running.Go(func() { runSoakSlave(t, s.near, upper, "near") })
	s.running.Go(func() { runSoakSlave(t, s.far, socket, "far") })
	var err error
	s.master, err = bridge.Connect(t.Context(), s.toHost.disordered(remote), &bridge.MasterOptions{
		OnNotify: func(frame.Notify) { s.notifies++ },
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func runSoakSlave(t *testing.T, slave *bridge.Slave, socket io.ReadWriteCloser, name string) {
	n := frame.Notify{Manifest: []byte(name), Limits: frame.DefaultLimits()}
	if err := slave.Run(t.Context(), socket, &n); err != nil {
		t.Errorf("Run of the %s slave = %v", name, err)
	}
}

// late returns a connection that is slow now and then, or always brings little at a time.
func late(r *rand.Rand, c relaytest.Conn) relaytest.Conn {
	faults := relaytest.Faults{Delay: func() time.Duration {
		if rand.IntN(50) == 0 {
			return rand.N(500 * time.Microsecond)
		}
		return 0
	}}
	if r.IntN(4) == 0 {
		faults.ReadSize = 1 + r.IntN(3000)
	}
	if r.IntN(4) == 0 {
		faults.WriteSize = 1 + r.IntN(5000)
	}
	return relaytest.Inject(c, faults)
}

func (s *soak) run(t *testing.T) (carried soakSums) {
	t.Helper()
	var ends sync.WaitGroup
	var sent [2]soakSums
	var atHost, atMaster soakSink
	ends.Go(func() {
		out := frame.NewWriter(s.host, nil)
		sent[0] = s.toMaster.play(t, out, nil)
		s.host.CloseWrite()
	})
	states, notifies := uint64(0), 1 // the first one of the near slave
	ends.Go(func() {
		sent[1] = s.toHost.play(t, s.master.Writer(), func(n uint64) {
			switch n % 1000 {
			case 250:
				for _, slave := range []*bridge.Slave{s.near, s.far} {
					if slave.SendNotify(offer("again")) == nil { // not when its host has nothing more to say
						notifies++
					}
				}
			case 500:
				states++
				check(t, s.master.SendState([]byte{byte(states)}))
			case 999:
				check(t, s.master.SendPolicy(frame.Meta{}, []byte("p")))
			}
		})
		s.master.CloseWrite()
	})
	ends.Go(func() { atHost.read(t, frame.NewReader(s.host, nil).Next) })
	ends.Go(func() { atMaster.read(t, s.master.ReadFrame) })
	ends.Wait()
	s.running.Wait()
	s.host.Close()
	s.master.Close()

	sent[1].policies = (s.toHost.frames + 1) / 1000
	if atMaster.sums != sent[0] || atHost.sums != sent[1] {
		t.Errorf("sent %+v and %+v, arrived %+v and %+v", sent[0], sent[1], atMaster.sums, atHost.sums)
	}
	if _, version := s.far.State().Load(); version != states {
		t.Errorf("the slave keeps state %d, want %d", version, states)
	}
	if n := len(atMaster.due) + len(atHost.due); n > 0 {
		t.Errorf("%d requests have no end", n)
	}
	if s.notifies != notifies {
		t.Errorf("%d notifies arrived, %d were sent", s.notifies, notifies)
	}
	carried.add(atMaster.sums)
	carried.add(atHost.sums)
	return carried
}

func check(t *testing.T, err error) {
	if err != nil {
		t.Error(err)
	}
}

// A soakSource sends the frames of one direction.
type soakSource struct {
	traffic  *traffic
	frames   uint64
	disorder relaytest.Disorder
}

func newSoakSource(t *testing.T, r *rand.Rand, frames int) *soakSource {
	size := func(r *rand.Rand) int {
		switch dice := r.IntN(10_000); {
		case dice < 1:
			return 200 << 10
		case dice < 30:
			return r.IntN(40 << 10)
		}
		return r.IntN(120)
	}
	s := &soakSource{traffic: newTraffic(t, r.Uint64(), 1+r.IntN(200), size), frames: r.Uint64N(uint64(frames))}
	s.traffic.reuse = r.IntN(2) == 0
	s.disorder = relaytest.Disorder{
		Window: r.IntN(20), KeepFlows: s.traffic.reuse, Rand: rand.New(rand.NewPCG(r.Uint64(), 0)),
	}
	return s
}

// disordered returns a connection that puts what is written to it out of order, and writes it in
// large pieces.
func (s *soakSource) disordered(c relaytest.Conn) relaytest.Conn {
	return relaytest.Reorder(&buffered{c, bufio.NewWriterSize(c, 64<<10)}, s.disorder)
}

type buffered struct {
	relaytest.Conn
	out *bufio.Writer
}

func (b *buffered) Write(p []byte) (int, error) { return b.out.Write(p) }
func (b *buffered) CloseWrite() error {
	if err := b.out.Flush(); err != nil {
		return err
	}
	return b.Conn.CloseWrite()
}

// play writes all frames, and after each calls also, unless that is nil, with how many they are.
func (s *soakSource) play(t *testing.T, out *frame.Writer, also func(n uint64)) (sent soakSums) {
	put := func(f frame.Frame) bool {
		err := out.Write(&f)
		check(t, err)
		sent.count(&f)
		return err == nil
	}
	for n := range s.frames {
		if !put(s.traffic.next()) {
			return sent
		}
		if also != nil {
			also(n + 1)
		}
	}
	for f, ok := s.traffic.last(); ok; f, ok = s.traffic.last() {
		if !put(f) {
			return sent
		}
	}
	check(t, out.Flush())
	return sent
}

func (a *soakSums) count(f *frame.Frame) {
	switch f.Type {
	case frame.TypePolicy:
		a.policies++
		return
	case frame.TypeCredit:
		a.credits++
		a.creditSum += f.Credit.Or(0)
	}
	if f.Type.Terminal() {
		a.requests++
	}
	a.frames++
	a.bytes += uint64(len(f.Payload))
}

// A soakSink checks what arrives.
type soakSink struct {
	sums soakSums
	due  map[flow.Key]uint64
}

func (s *soakSink) read(t *testing.T, next func() (*frame.Frame, error)) {
	s.due = map[flow.Key]uint64{}
	for {
		f, err := next()
		if err == io.EOF {
			return
		}
		if err == nil && f.Type != frame.TypeRelayNotify {
			err = s.take(f)
		}
		if err != nil {
			t.Errorf("frame %d: %v", s.sums.frames, err)
			return
		}
	}
}

func (s *soakSink) take(f *frame.Frame) error {
	s.sums.count(f)
	if !f.Type.Flow() {
		return nil
	}
	key := flow.KeyOf(f.Head())
	due := s.due[key]
	switch {
	case f.Seq != due:
		return fmt.Errorf("%v, want number %d", describeFrame(f), due)
	case due == 0 && f.Type != frame.TypeReq:
		return fmt.Errorf("%v, want a request first", describeFrame(f))
	case f.Type.Terminal():
		delete(s.due, key)
		return nil
	case f.Type == frame.TypeChunk && (f.Checksum.Or(0) != mark(f.Seq, len(f.Payload)) || !bytes.Equal(f.Payload, filler[:len(f.Payload)])):
		return fmt.Errorf("%v: it has changed", describeFrame(f))
	}
	s.due[key] = due + 1
	return nil
}
