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
	s := &bareSwitch{rig: &rig{parts: parts{byUs, byThem, byThem}, peer: p, flags: flags}}
	s.prepare(t)
	socket := filepath.Join(s.dir, "switch")
	listener, err := net.Listen("unix", socket)
	require.NoError(t, err)
	defer listener.Close()
	s.hosts = []stopper{startHost(t, p, socket, s.script(t, c), c, flags...)}
	require.NoError(t, listener.(*net.UnixListener).SetDeadline(time.Now().Add(callLimit)))
	conn, err := listener.Accept()
	require.NoError(t, err)
	s.bareEnd = bare(t, conn)
	return s
}

// eachHost runs a test with their host in each release, which both speak our version there, after
// what each wants to come first.
func eachHost(t *testing.T, c cartridgeOf, test func(t *testing.T, s *bareSwitch)) {
	t.Run("v4", func(t *testing.T) {
		t.Parallel()
		s := bareSwitchOf(t, findPeer(t, envV4), c)
		s.until(t, frame.TypeRelayNotify)
		test(t, s)
	})
	t.Run("newest", func(t *testing.T) {
		t.Parallel()
		s := bareSwitchOf(t, findPeer(t, envNewest), c, ourVersion()...)
		s.until(t, frame.TypeRelayNotify)
		s.send(t, policyFrame(t))
		test(t, s)
	})
}

// An ERR that their host makes has no routing id and the number 0. A frame without routing id is
// the body of a peer call elsewhere, so a switch has to tell by where it comes from.
func TestTheirHostsOwnErrorsHaveNoRoutingID(t *testing.T) {
	t.Parallel()
	eachHost(t, far, func(t *testing.T, s *bareSwitch) {
		id := s.request(t, capURN("nobody"), frame.Number(7), "x")
		failure := s.until(t, frame.TypeErr)
		assert.Equal(t, id, failure.ID)
		assert.True(t, failure.RoutingID.IsZero(), failure.RoutingID)
		assert.Zero(t, failure.Seq)
		info, err := failure.ErrInfo()
		require.NoError(t, err)
		assert.Equal(t, "NO_HANDLER", string(info.Code))
	})
}

// Their host keeps one route for each request id. A peer call that comes back to the host that it
// came from takes the route of its own answer, and the end of its body removes it.
func TestTheirHostLosesPeerCallsToItself(t *testing.T) {
	t.Parallel()
	eachHost(t, cartridgeOf{"both", []string{"forward", "invert"}}, func(t *testing.T, s *bareSwitch) {
		outer, xid := s.request(t, capURN("forward"), frame.Number(1), "x"), frame.Number(2)
		inner := s.until(t, frame.TypeReq)
		require.True(t, inner.RoutingID.IsZero())
		s.passOn(t, xid, inner)
		for done := 0; done < 2; {
			// The body of the call, which goes back to the host, and its answer, which does too.
			f, err := s.Next()
			require.NoError(t, err)
			if f.ID != inner.ID {
				continue
			}
			if f.Type == frame.TypeEnd {
				done++
			}
			s.passOn(t, xid, f.Clone())
		}
		// What comes after it gets its answer, the one that waits for the peer call does not.
		fence := s.request(t, capURN("invert"), frame.Number(3), "x")
		end := s.until(t, frame.TypeEnd)
		assert.Equal(t, fence, end.ID)
		assert.NotEqual(t, outer, end.ID)
	})
}

// The newest release answers nothing before it was given a policy.
func TestTheNewestHostWantsAPolicyFirst(t *testing.T) {
	t.Parallel()
	s := bareSwitchOf(t, findPeer(t, envNewest), far, ourVersion()...)
	s.until(t, frame.TypeRelayNotify)
	id := s.request(t, identity, frame.Number(1), "x")
	failure := s.until(t, frame.TypeErr)
	info, err := failure.ErrInfo()
	require.NoError(t, err)
	assert.Equal(t, id, failure.ID)
	assert.Equal(t, "PROTOCOL_VIOLATION", string(info.Code))
	s.send(t, policyFrame(t))
	s.request(t, identity, frame.Number(2), "x")
	s.until(t, frame.TypeEnd)
}
