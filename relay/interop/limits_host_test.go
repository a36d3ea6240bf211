package interop

import (
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
)

// A bareEnd is a socket to one of their programs with nothing of ours behind it but the codec.
type bareEnd struct {
	link
	conn net.Conn
	next map[flow.Key]uint64 // numbers
}

func bare(t *testing.T, conn net.Conn) *bareEnd {
	t.Helper()
	t.Cleanup(func() { conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(callLimit)))
	return &bareEnd{link: link{frame.NewWriter(conn, nil), frame.NewReader(conn, nil)}, conn: conn, next: map[flow.Key]uint64{}}
}

// until reads frames until one is of a type, which it returns. RELAY_NOTIFY and CREDIT are passed
// over unless they are asked for.
func (b *bareEnd) until(t *testing.T, want frame.Type) *frame.Frame {
	t.Helper()
	for {
		f, err := b.Next()
		require.NoError(t, err)
		if f.Type == want {
			return f.Clone()
		}
		switch f.Type {
		case frame.TypeRelayNotify, frame.TypeCredit, frame.TypeStreamStart, frame.TypeChunk, frame.TypeStreamEnd, frame.TypeLog:
		default:
			require.FailNow(t, "a frame of another type", "%+v", f)
		}
	}
}

// request sends a whole request and returns its id.
func (b *bareEnd) request(t *testing.T, urn string, xid frame.ID, body string) frame.ID {
	t.Helper()
	id := frame.NewUUID()
	b.passOn(t, xid, callOf(id, urn, body)...)
	return id
}

// callOf returns the frames of a request with one argument.
func callOf(id frame.ID, urn, body string) []*frame.Frame {
	payload := append([]byte{0x40 + byte(len(body))}, body...)
	req, start := frame.NewReq(id, []byte(urn)), frame.NewStreamStart(id, []byte("arg0"), []byte(media))
	req.ContentType, req.Payload = []byte("application/cbor"), []byte{}
	chunk := frame.NewChunk(id, []byte("arg0"), 0, payload, flow.Checksum(payload))
	stop, end := frame.NewStreamEnd(id, []byte("arg0"), frame.Some[uint64](1)), frame.NewBodyEnd(id)
	return []*frame.Frame{&req, &start, &chunk, &stop, &end}
}

// passOn writes frames as a switch does.
func (b *bareEnd) passOn(t *testing.T, xid frame.ID, frames ...*frame.Frame) {
	t.Helper()
	for _, f := range frames {
		f.RoutingID = xid
		if f.Type.Flow() {
			key := flow.KeyOf(f.Head())
			f.Seq = b.next[key]
			b.next[key]++
		}
		b.send(t, f)
	}
}

// A bareSwitch is this test as the switch of their host.
type bareSwitch struct {
	*bareEnd
	*rig
}

// bareSwitchOf starts their host with a cartridge of theirs.
func bareSwitchOf(t *testing.T, p *peer, c cartridgeOf, flags ...string) *bareSwitch {
	t.Helper()
	r := &rig{parts: parts{byUs, byThem, byThem}, peer: p, flags: flags}
	r.prepare(t)
	return r.bareSwitch(t, r.script(t, c), c)
}

// bareSwitch starts their host with a program for its cartridge.
func (r *rig) bareSwitch(t *testing.T, program string, c cartridgeOf) *bareSwitch {
	t.Helper()
	s := &bareSwitch{rig: r}
	socket := filepath.Join(s.dir, "switch")
	listener, err := net.Listen("unix", socket)
	require.NoError(t, err)
	defer listener.Close()
	s.hosts = []stopper{startHost(t, r.peer, socket, program, c, r.flags...)}
	require.NoError(t, listener.(*net.UnixListener).SetDeadline(time.Now().Add(callLimit)))
	conn, err := listener.Accept()
	require.NoError(t, err)
	s.bareEnd = bare(t, conn)
	return s
}

// What their host does that a switch has to know, in both releases, which both speak our version
// here.
func TestWhatTheirHostDoes(t *testing.T) {
	t.Parallel()
	both := cartridgeOf{"both", []string{"forward", "invert"}}
	eachPeer(t, func(t *testing.T, p *peer) {
		var flags []string
		if p.knowsPolicy() {
			flags = ourVersion()
		}
		s := bareSwitchOf(t, p, both, flags...)
		s.until(t, frame.TypeRelayNotify)
		if p.knowsPolicy() {
			s.wantsAPolicyFirst(t)
		}
		s.givesItsErrorsNoRoutingID(t)
		s.losesPeerCallsToItself(t)
	})
}

// The newest release answers nothing before it was given a policy.
func (s *bareSwitch) wantsAPolicyFirst(t *testing.T) {
	id := s.request(t, identity, frame.Number(1), "x")
	failure := s.until(t, frame.TypeErr)
	assert.Equal(t, "PROTOCOL_VIOLATION", codeOf(t, failure))
	assert.Equal(t, id, failure.ID)
	s.send(t, policyFrame(t))
	s.request(t, identity, frame.Number(2), "x")
	s.until(t, frame.TypeEnd)
}

// An ERR that their host makes has no routing id and the number 0. A frame without routing id is
// the body of a peer call elsewhere, so a switch has to tell by where it comes from.
func (s *bareSwitch) givesItsErrorsNoRoutingID(t *testing.T) {
	id := s.request(t, capURN("nobody"), frame.Number(7), "x")
	failure := s.until(t, frame.TypeErr)
	assert.Equal(t, "NO_HANDLER", codeOf(t, failure))
	assert.Equal(t, id, failure.ID)
	assert.True(t, failure.RoutingID.IsZero(), failure.RoutingID)
	assert.Zero(t, failure.Seq)
}

// Their host keeps one route for each request id. A peer call that comes back to the host that it
// came from takes the route of its own answer, and the end of its body removes it.
func (s *bareSwitch) losesPeerCallsToItself(t *testing.T) {
	outer, xid := s.request(t, capURN("forward"), frame.Number(8), "x"), frame.Number(9)
	inner := s.until(t, frame.TypeReq)
	require.True(t, inner.RoutingID.IsZero())
	s.passOn(t, xid, inner)
	for ends := 0; ends < 2; { // of the call's body, which goes back to the host, and of its answer, which does too
		f, err := s.Next()
		require.NoError(t, err)
		if f.ID != inner.ID {
			continue
		}
		if f.Type == frame.TypeEnd {
			ends++
		}
		s.passOn(t, xid, f.Clone())
	}
	// What is asked for next is answered, while what waits for the peer call is not.
	fence := s.request(t, capURN("invert"), frame.Number(10), "x")
	end := s.until(t, frame.TypeEnd)
	assert.Equal(t, fence, end.ID)
	assert.NotEqual(t, outer, end.ID)
}

func codeOf(t *testing.T, failure *frame.Frame) string {
	t.Helper()
	info, err := failure.ErrInfo()
	require.NoError(t, err)
	return string(info.Code)
}
