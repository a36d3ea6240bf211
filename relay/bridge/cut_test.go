package bridge_test

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"testing"

	"github.com/cosim-go/cosim/relay/bridge"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/relaytest"
)

// A script is what comes into a direction of a slave, and what has to come out if nothing
// breaks.
type script struct{ in, out []byte }

func scripts(t *testing.T) (toHost, toSocket script) {
	t.Helper()
	credit := frame.NewCredit(rid, nil, 1, frame.RequestDirection)
	state, policy := frame.NewRelayState([]byte("s")), frame.NewPolicy([]byte("p"))
	flow := []frame.Frame{req(0), chunk(1, 9), chunk(2, 9), bodyEnd(3)}
	toHost = script{
		in:  wire(t, policy, flow[0], state, flow[2], credit, flow[1], flow[3], notify(t, "{}")),
		out: wire(t, policy, flow[0], credit, flow[1], flow[2], flow[3]),
	}
	toSocket = script{
		in:  wire(t, flow[3], flow[0], state, notify(t, "new"), flow[2], flow[1]),
		out: wire(t, notify(t, "first"), flow[0], notify(t, "new"), flow[1], flow[2], flow[3]),
	}
	return toHost, toSocket
}

var errTorn = errors.New("torn")

// A breakage is one way in which a link breaks after some bytes.
type breakage struct {
	name string
	of   func(in, out []byte) int // bytes after which it may break, at most
	// faults says what goes wrong at the slave's end.
	faults func(after int64) relaytest.Faults
	// closes says that the far end closes the link when it has written that many bytes.
	closes bool
	// torn says that Run has to return errTorn.
	torn bool
}

var breakages = []breakage{
	{
		name: "the slave reads an end", of: lengthIn,
		faults: func(after int64) relaytest.Faults { return relaytest.Faults{ReadCut: &relaytest.Cut{After: after}} },
	},
	{
		name: "the slave reads an error", of: lengthIn, torn: true,
		faults: func(after int64) relaytest.Faults {
			return relaytest.Faults{ReadCut: &relaytest.Cut{After: after, Err: errTorn}}
		},
	},
	{
		name: "the slave fails to write", of: lengthOut,
		faults: func(after int64) relaytest.Faults {
			return relaytest.Faults{WriteCut: &relaytest.Cut{After: after, Err: errTorn}}
		},
	},
	{
		name: "the far end closes", of: lengthIn, closes: true,
		faults: func(int64) relaytest.Faults { return relaytest.Faults{} },
	},
}

func lengthIn(in, _ []byte) int   { return len(in) }
func lengthOut(_, out []byte) int { return len(out) }

// Requirement: C5
func TestABreakageAtAnyByteEndsTheRelayAndLeavesNothing(t *testing.T) {
	relaytest.NoLeaks(t)
	for _, transport := range relaytest.Transports() {
		stride := 29
		if transport.Name == "socket" {
			stride = 1
		}
		if testing.Short() {
			stride = stride*7 + 4
		}
		for _, b := range breakages {
			t.Run(transport.Name+"/"+b.name, func(t *testing.T) { breakEverywhere(t, transport, b, stride) })
		}
	}
}

func breakEverywhere(t *testing.T, transport relaytest.Transport, b breakage, stride int) {
	toHost, toSocket := scripts(t)
	for _, size := range []int{0, 1} {
		for after := 0; after <= b.of(toSocket.in, toHost.out); after += stride {
			c := conversation{toHost: toHost, toSocket: toSocket, after: after, atHost: true}
			c.run(t, transport, b, size)
		}
		for after := 0; after <= b.of(toHost.in, toSocket.out); after += stride {
			c := conversation{toHost: toHost, toSocket: toSocket, after: after}
			c.run(t, transport, b, size)
		}
		if t.Failed() {
			return
		}
	}
}

// A conversation goes on until the link at the host, or the socket, breaks.
type conversation struct {
	toHost, toSocket script
	after            int
	atHost           bool
}

func (c *conversation) run(t *testing.T, transport relaytest.Transport, b breakage, size int) {
	t.Helper()
	local, host := opened(t, transport)
	socket, remote := opened(t, transport)
	closeHost, closeRemote := -1, -1
	faulty := &socket
	if c.atHost {
		faulty = &local
	}
	switch {
	case b.closes && c.atHost:
		closeHost = c.after
	case b.closes:
		closeRemote = c.after
	}
	faults := b.faults(int64(c.after))
	faults.ReadSize, faults.WriteSize = size, size
	*faulty = relaytest.Inject(*faulty, faults)

	var ends sync.WaitGroup
	var atHost, atSocket []byte
	ends.Go(func() { atHost = converse(host, c.toSocket.in, closeHost) })
	ends.Go(func() { atSocket = converse(remote, c.toHost.in, closeRemote) })
	err := bridge.NewSlave(local, nil).Run(t.Context(), socket, ptr(offer("first")))
	ends.Wait()

	kind := frame.KindOf(err)
	if err != nil && kind != frame.ErrIO && kind != frame.ErrUnexpectedEOF {
		t.Errorf("Run = %v of kind %q, want nil or an error of a stream", err, kind)
	}
	if b.torn && !errors.Is(err, errTorn) {
		t.Errorf("Run = %v, want %v", err, errTorn)
	}
	if !bytes.HasPrefix(c.toHost.out, atHost) || !bytes.HasPrefix(c.toSocket.out, atSocket) {
		t.Errorf("arrived %v at the host and %v at the socket", describe(atHost), describe(atSocket))
	}
	if t.Failed() {
		t.Fatalf("after %d bytes, at the host: %t, in pieces of %d", c.after, c.atHost, size)
	}
}

func opened(t *testing.T, transport relaytest.Transport) (relaytest.Conn, relaytest.Conn) {
	t.Helper()
	a, b, err := transport.Open()
	if err != nil {
		t.Fatal(err)
	}
	return a, b
}

// converse is a far end: it writes, reads until the end and then closes, as hosts and switches
// do; or it closes at once when it has written as many bytes as closeAfter says.
func converse(c relaytest.Conn, say []byte, closeAfter int) (heard []byte) {
	var saying sync.WaitGroup
	saying.Go(func() {
		if closeAfter >= 0 {
			c.Write(say[:closeAfter])
			c.Close()
			return
		}
		c.Write(say)
	})
	heard, _ = io.ReadAll(c)
	c.Close()
	saying.Wait()
	return heard
}
