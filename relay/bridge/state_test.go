package bridge_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/cosim-go/cosim/relay/bridge"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/relaytest"
)

// Requirements: S2, S5, ST1, ST2
func TestStateIsKeptAndHidden(t *testing.T) {
	s := start(t, nil, nil)
	if payload, version := s.slave.State().Load(); payload != nil || version != 0 {
		t.Errorf("Load = %q, %d before the first state, want none", payload, version)
	}
	var kept [][]byte
	payloads := []string{`{"gpus":2}`, "", "\xa0\x00\xff", string(make([]byte, 100<<10))}
	for i, payload := range payloads {
		write(t, s.remote, wire(t, frame.NewRelayState([]byte(payload)), req(0), bodyEnd(1)))
		expect(t, s.host, wire(t, req(0), bodyEnd(1)))
		got, version := s.slave.State().Load()
		if string(got) != payload || got == nil || version != uint64(i+1) {
			t.Errorf("Load = %.20q, %d, want %.20q, %d", got, version, payload, i+1)
		}
		kept = append(kept, got)
	}
	for i, payload := range payloads {
		if string(kept[i]) != payload {
			t.Errorf("payload %d is %.20q after others came, want %.20q", i, kept[i], payload)
		}
	}
}

// Requirements: S2, S5
func TestStateWithoutPayloadChangesNothing(t *testing.T) {
	called := 0
	s := start(t, &bridge.SlaveOptions{OnState: func([]byte) { called++ }}, nil)
	write(t, s.remote, wire(t, stateWithoutPayload(), req(0)))
	expect(t, s.host, wire(t, req(0)))
	if payload, version := s.slave.State().Load(); payload != nil || version != 0 {
		t.Errorf("Load = %q, %d, want none", payload, version)
	}
	write(t, s.remote, wire(t, frame.NewRelayState([]byte("a")), stateWithoutPayload(), chunk(1, 1)))
	expect(t, s.host, wire(t, chunk(1, 1)))
	if payload, version := s.slave.State().Load(); string(payload) != "a" || version != 1 || called != 1 {
		t.Errorf("Load = %q, %d after %d calls, want a, 1 after one", payload, version, called)
	}
}

// Requirements: S3, ST2
func TestStateFromTheHostIsDropped(t *testing.T) {
	s := start(t, nil, nil)
	write(t, s.host, wire(t, frame.NewRelayState([]byte("a")), req(0), stateWithoutPayload(), chunk(1, 1)))
	expect(t, s.remote, wire(t, req(0), chunk(1, 1)))
	if payload, version := s.slave.State().Load(); payload != nil || version != 0 {
		t.Errorf("Load = %q, %d, want none: a host has no say in its own state", payload, version)
	}
	s.host.CloseWrite()
	expectEnd(t, s.remote)
}

// Requirements: S5, ST2
func TestOnStateIsCalledInOrderAndInPlace(t *testing.T) {
	var s *span
	var got []string
	ready, begun := make(chan struct{}), make(chan struct{})
	before := wire(t, req(0))
	s = start(t, &bridge.SlaveOptions{OnState: func(payload []byte) {
		<-ready
		if len(got) == 0 {
			expect(t, s.host, before) // or this waits for ever
			close(begun)
		}
		newest, _ := s.slave.State().Load()
		got = append(got, string(payload)+string(newest))
	}}, nil)
	close(ready)
	write(t, s.remote, append(before, wire(t, frame.NewRelayState([]byte("a")), frame.NewRelayState(nil),
		frame.NewRelayState([]byte("b")), chunk(1, 1))...))
	<-begun
	expect(t, s.host, wire(t, chunk(1, 1)))
	if len(got) != 3 || got[0] != "aa" || got[1] != "" || got[2] != "bb" {
		t.Errorf("called with %q, want a, nothing and b, each the newest then", got)
	}
}

// Requirement: S5
func TestOnePieceOfStateServesSeveralSlaves(t *testing.T) {
	shared := new(bridge.State)
	for i, payload := range []string{"a", "b"} {
		s := start(t, &bridge.SlaveOptions{State: shared}, nil)
		if s.slave.State() != shared {
			t.Fatal("the slave has another state than the one given")
		}
		write(t, s.remote, wire(t, frame.NewRelayState([]byte(payload))))
		got, version, err := shared.Wait(t.Context(), uint64(i))
		if string(got) != payload || version != uint64(i+1) || err != nil {
			t.Errorf("Wait = %q, %d, %v, want %q, %d", got, version, err, payload, i+1)
		}
		s.closeAll()
	}
}

// Requirement: S5
func TestWaitWakesEverybodyAtAChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		local, host := relaytest.BufferedPipe(1 << 10)
		socket, remote := relaytest.BufferedPipe(1 << 10)
		slave := bridge.NewSlave(local, nil)
		go slave.Run(t.Context(), socket, nil)
		woken := make(chan string)
		for range 3 {
			go func() {
				payload, _, err := slave.State().Wait(t.Context(), 1)
				if err != nil {
					t.Error(err)
				}
				woken <- string(payload)
			}()
		}
		write(t, remote, wire(t, frame.NewRelayState([]byte("a"))))
		synctest.Wait()
		select {
		case payload := <-woken:
			t.Errorf("Wait for more than version 1 = %q at version 1", payload)
		default:
		}
		write(t, remote, wire(t, frame.NewRelayState([]byte("b"))))
		for range 3 {
			if payload := <-woken; payload != "b" {
				t.Errorf("Wait = %q, want b", payload)
			}
		}
		if payload, version, err := slave.State().Wait(t.Context(), 0); string(payload) != "b" || version != 2 || err != nil {
			t.Errorf("Wait for what is there = %q, %d, %v, want b, 2", payload, version, err)
		}
		host.Close()
		remote.Close()
	})
}

func TestWaitEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		cause := errors.New("the host stops")
		got := make(chan error)
		go func() {
			_, _, err := new(bridge.State).Wait(ctx, 0)
			got <- err
		}()
		synctest.Wait()
		cancel(cause)
		if err := <-got; err != cause {
			t.Errorf("Wait = %v, want %v", err, cause)
		}
	})
}
