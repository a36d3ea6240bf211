package interop

import (
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/bridge"
	"github.com/cosim-go/cosim/relay/frame"
)

// host is our host at the local side of the peer's slave.
func (r *relayPeer) host() link {
	return link{frame.NewWriter(r.stdin, nil), frame.NewReader(r.stdout, nil)}
}

// expectFromMaster reads the frames that are due from a master.
func expectFromMaster(t *testing.T, m *bridge.Master, frames ...*frame.Frame) {
	t.Helper()
	for i, want := range frames {
		got, err := m.ReadFrame()
		require.NoError(t, err, "frame %d", i)
		require.Equal(t, want, got, "frame %d", i)
	}
}

// Requirements: R1, R2, M1, M2, M3, N1, N3, N4, ST2
func TestOurMasterWithTheirSlave(t *testing.T) {
	eachPeer(t, func(t *testing.T, p *peer) {
		r := startRelay(t, p, "slave", append(ourVersion(), "--manifest", announced)...)
		m := connect(t, r, nil)
		assert.Equal(t, announced, string(m.Manifest()))
		assert.Equal(t, frame.DefaultLimits(), m.Limits())
		host := r.host()

		// From the host: their slave does not put frames in order, our master does.
		response := request()
		host.send(t, response[1], response[0], response[4], response[3], response[2])
		expectFromMaster(t, m, response...)

		// What is meant for the pair itself stays there.
		limits := frame.Limits{MaxFrame: 1 << 20, MaxChunk: 1 << 10, MaxReorderBuffer: 3, InitialCredit: 9}
		beat := heartbeat()
		host.send(t, notifyFrame(t, "{}", limits), &frame.Frame{Type: frame.TypeRelayState, ID: frame.Number(0), Payload: []byte("x")}, beat)
		expectFromMaster(t, m, beat)
		assert.Equal(t, "{}", string(m.Manifest()))
		assert.Equal(t, limits, m.Limits())

		require.NoError(t, m.SendState([]byte("resources")))
		require.NoError(t, m.Send(notifyFrame(t, "{}", limits)))
		body := request()
		for _, f := range body {
			require.NoError(t, m.Send(f))
		}
		host.expect(t, body...)
	})
}

// Requirement: C5
func TestTheirSlaveEndsWithOurMaster(t *testing.T) {
	eachPeer(t, func(t *testing.T, p *peer) {
		r := startRelay(t, p, "slave", append(ourVersion(), "--manifest", announced)...)
		m := connect(t, r, nil)
		require.NoError(t, r.stdin.Close()) // their slave closes nothing before both directions ended
		require.NoError(t, m.CloseWrite())
		_, err := m.ReadFrame()
		assert.Equal(t, io.EOF, err)
		assert.Empty(t, r.wait(t))
	})
}

// Requirement: PO1
func TestTheirSlavePassesOurPolicyOn(t *testing.T) {
	r := startRelay(t, findPeer(t, envNewest), "slave", append(ourVersion(), "--manifest", announced)...)
	m := connect(t, r, nil)
	require.NoError(t, m.SendPolicy(networkMeta(t, "no_telemetry"), nil))
	beat := heartbeat()
	require.NoError(t, m.Send(beat))
	r.host().expect(t, policyFrame(t), beat)
}

// A slave of version 4 dies of a POLICY: a switch that serves it must have none.
func TestPolicyEndsASlaveOfVersion4(t *testing.T) {
	r := startRelay(t, findPeer(t, envV4), "slave", "--manifest", announced)
	m := connect(t, r, nil)
	require.NoError(t, m.SendPolicy(networkMeta(t, "offline"), nil))
	require.NoError(t, r.stdin.Close())
	assert.Equal(t, frame.ErrInvalidFrame, r.wait(t))
}

// Requirement: PO2
func TestTheirSlaveRefusesPolicyFromTheHost(t *testing.T) {
	r := startRelay(t, findPeer(t, envNewest), "slave", append(ourVersion(), "--manifest", announced)...)
	m := connect(t, r, nil)
	r.host().send(t, policyFrame(t))
	require.NoError(t, m.CloseWrite())
	_, err := m.ReadFrame()
	assert.Equal(t, io.EOF, err)
	assert.Equal(t, frame.Kind("other"), r.wait(t))
}

// The newest release writes version 6 into its frames.
func TestOurMasterRefusesAnotherVersion(t *testing.T) {
	p := findPeer(t, envNewest)
	require.NotEqual(t, frame.Version, p.facts.Version)
	r := startRelay(t, p, "slave", "--manifest", announced)
	_, err := bridge.Connect(t.Context(), r.socket, nil)
	require.ErrorIs(t, err, frame.ErrInvalidFrame)
	assert.ErrorContains(t, err, "version 6, want version 4")
}
