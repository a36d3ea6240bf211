package relaytest

import (
	"encoding/binary"
	"io"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosim-go/cosim/relay/frame"
)

// numbered returns the frames of some flows, each numbered from 0, in turn.
func numbered(t *testing.T, flows, each int) [][]byte {
	t.Helper()
	var wires [][]byte
	for seq := range each {
		for id := range flows {
			wires = append(wires, wireOf(t, &frame.Frame{Type: frame.TypeLog, ID: frame.Number(uint64(id)), Seq: uint64(seq)}))
		}
	}
	return wires
}

func wireOf(t *testing.T, f *frame.Frame) []byte {
	t.Helper()
	wire, err := f.Append(make([]byte, prefixSize))
	if err != nil {
		t.Fatal(err)
	}
	binary.BigEndian.PutUint32(wire, uint32(len(wire)-prefixSize))
	return wire
}

// orders tells how far frames were overtaken, within their flow and by any frame.
func orders(t *testing.T, sent, got [][]byte) (within, any int) {
	t.Helper()
	if len(got) != len(sent) {
		t.Fatalf("%d frames, want the %d that were sent", len(got), len(sent))
	}
	place := map[string]int{}
	for i, wire := range sent {
		place[string(wire)] = i
	}
	for i := range got {
		inFlow, inAll := 0, 0
		for k := range got[:i] {
			if place[string(got[k])] > place[string(got[i])] {
				inAll++
				if flowOf(got[k]) == flowOf(got[i]) {
					inFlow++
				}
			}
		}
		within, any = max(within, inFlow), max(any, inAll)
	}
	return within, any
}

func TestShuffle(t *testing.T) {
	sent := numbered(t, 3, 100)
	for _, test := range []struct {
		name        string
		disorder    Disorder
		within, any bool
	}{
		{"nothing to do", Disorder{}, false, false},
		{"within flows too", Disorder{Window: 7}, true, true},
		{"between flows alone", Disorder{Window: 7, KeepFlows: true}, false, true},
		{"all are skipped", Disorder{Window: 7, Skip: len(sent)}, false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			for seed := range uint64(20) {
				test.disorder.Rand = rand.New(rand.NewPCG(seed, 0))
				within, any := orders(t, sent, Shuffle(sent, test.disorder))
				if within > 0 != test.within || any > 0 != test.any || any > test.disorder.Window {
					t.Errorf("seed %d: overtaken %d times within the flow, %d in all, window %d", seed, within, any, test.disorder.Window)
				}
			}
		})
	}
}

// What is no frame and what belongs to no flow moves on its own.
func TestShuffleTakesAnyBody(t *testing.T) {
	sent := [][]byte{
		{0, 0, 0, 1, 0xa0}, {0, 0, 0, 0},
		wireOf(t, &frame.Frame{Type: frame.TypeHeartbeat, ID: frame.Number(1)}),
		wireOf(t, &frame.Frame{Type: frame.TypeHeartbeat, ID: frame.Number(2)}),
	}
	moved := false
	for seed := range uint64(20) {
		_, any := orders(t, sent, Shuffle(sent, Disorder{Window: 4, KeepFlows: true, Rand: rand.New(rand.NewPCG(seed, 0))}))
		moved = moved || any > 0
	}
	if !moved {
		t.Error("nothing was overtaken in 20 runs")
	}
}

func TestReorder(t *testing.T) {
	client, server := BufferedPipe(1 << 20)
	mixed := Reorder(Inject(client, Faults{WriteSize: 5}), Disorder{Window: 5})
	sent := numbered(t, 2, 50)
	for _, wire := range sent {
		for i := range wire { // a byte at a time
			if _, err := mixed.Write(wire[i : i+1]); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := mixed.Write([]byte{0, 0}); err != nil {
		t.Fatal(err)
	}
	mixed.CloseWrite()
	all, err := io.ReadAll(server)
	if err != nil {
		t.Fatal(err)
	}
	var got [][]byte
	for {
		wire, rest, ok := firstFrame(all)
		if !ok {
			break
		}
		got, all = append(got, wire), rest
	}
	if string(all) != "\x00\x00" {
		t.Errorf("behind the frames stands %x, want the cut prefix", all)
	}
	if within, _ := orders(t, sent, got); within == 0 {
		t.Error("no frame was overtaken")
	}
	mixed.Close()
	server.Close()
}

func TestReorderLingers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := BufferedPipe(1 << 10)
		mixed := Reorder(client, Disorder{Window: 8, Linger: time.Second})
		wire := numbered(t, 1, 1)[0]
		begin := time.Now()
		if _, err := mixed.Write(wire); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(server, make([]byte, len(wire))); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begin); took != time.Second {
			t.Errorf("a frame was held for %v, want 1s", took)
		}
		mixed.Write(wire)
		mixed.Close()
		server.Close()
	})
}

func TestReorderReportsItsConnection(t *testing.T) {
	client, server := BufferedPipe(1 << 10)
	server.Close()
	mixed := Reorder(client, Disorder{})
	if _, err := mixed.Write(numbered(t, 1, 1)[0]); err != io.ErrClosedPipe {
		t.Errorf("Write = %v, want ErrClosedPipe", err)
	}
	mixed.Close()
}
