package bridge_test

import (
	"bytes"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/cosim-go/cosim/relay/bridge"
	"github.com/cosim-go/cosim/relay/frame"
)

func TestSlaveCountsAndSaysWhatItDrops(t *testing.T) {
	var log bytes.Buffer
	s := start(t, &bridge.SlaveOptions{
		Name: "gpu-a", Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}, ptr(offer("{}")))
	expect(t, s.remote, wire(t, notify(t, "{}")))
	state := frame.NewRelayState([]byte("a"))
	fromSocket := wire(t, req(0), chunk(2, 10), state, notify(t, "x"), chunk(1, 40<<10), state, stateWithoutPayload(), chunk(5, 1))
	write(t, s.remote, fromSocket)
	expect(t, s.host, wire(t, req(0), chunk(1, 40<<10), chunk(2, 10)))
	// The end comes before the frame that is held in front of it: that one is lost.
	write(t, s.host, wire(t, req(0), chunk(3, 1), state, bodyEnd(1), notify(t, "y")))
	expect(t, s.remote, wire(t, req(0), bodyEnd(1), notify(t, "y")))
	s.remote.CloseWrite()
	s.host.CloseWrite()
	if err := s.wait(); err != nil {
		t.Fatal(err)
	}
	size := func(frames ...frame.Frame) uint64 { return uint64(len(wire(t, frames...))) }
	want := bridge.Stats{
		ToLocal:  bridge.Counters{Frames: 3, Bytes: size(req(0), chunk(1, 40<<10), chunk(2, 10)), Kept: 2, Dropped: 2, Held: 1},
		ToSocket: bridge.Counters{Frames: 3, Bytes: size(req(0), bodyEnd(1), notify(t, "y")), Dropped: 1, Lost: 1},
	}
	if got := s.slave.Stats(); got != want {
		t.Errorf("Stats = %+v, want %+v", got, want)
	}
	for _, line := range []string{
		`slave=gpu-a type=relay_notify why="only a host may announce"`,
		`slave=gpu-a type=relay_state why="only the switch may send one"`,
		`slave=gpu-a type=relay_state why="no payload: the state stays"`,
		`msg="lost frames that were held" slave=gpu-a frames=1`,
	} {
		if strings.Count(log.String(), line) != 1 {
			t.Errorf("the log does not say once %q:\n%s", line, log.String())
		}
	}
}

// What was to be written and was not does not count as passed on.
func TestFramesThatAnErrorHoldsBackAreNotCounted(t *testing.T) {
	s := start(t, nil, nil)
	write(t, s.host, wire(t, req(0), frame.NewRelayState(nil), chunk(2, 1), frame.NewPolicy(nil)))
	s.wait()
	got, _ := io.ReadAll(s.remote)
	if n := s.slave.Stats().ToSocket; n.Bytes != uint64(len(got)) || n.Dropped != 1 || n.Held != 1 {
		t.Errorf("Stats = %+v, and %d bytes arrived, want one frame dropped and one held", n, len(got))
	}
}

func TestStatsAreThereWhileTheSlaveRuns(t *testing.T) {
	s := start(t, nil, nil)
	for i := range 100 {
		write(t, s.host, wire(t, chunk(uint64(i), 10)))
		expect(t, s.remote, wire(t, chunk(uint64(i), 10)))
		// Counters are published before what they count is flushed.
		if got := s.slave.Stats().ToSocket.Frames; got != uint64(i+1) {
			t.Errorf("Frames = %d after %d have arrived", got, i+1)
		}
	}
}
