package interop

import (
	"encoding/hex"
	"encoding/json"
	"io"
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/bridge"
	"github.com/cosim-go/cosim/relay/frame"
)

// A report is a line of the peer's master.
type report struct {
	Frame    string // hexadecimal; empty on the first and the last line
	Type     string
	Manifest string
	Limits   struct {
		MaxFrame         uint64 `json:"max_frame"`
		MaxChunk         uint64 `json:"max_chunk"`
		MaxReorderBuffer uint64 `json:"max_reorder_buffer"`
		InitialCredit    uint64 `json:"initial_credit"`
	}
	End bool
}

// A slaveUnderTest is our slave between our host and the peer's master.
type slaveUnderTest struct {
	*relayPeer
	*bridge.Slave
	reports *json.Decoder
	host    link
	local   net.Conn   // the host's end
	done    chan error // what Run returned
}

// startSlave starts it and reads the peer's first report. nil options are the defaults.
func startSlave(t *testing.T, p *peer, o *bridge.SlaveOptions) (*slaveUnderTest, report) {
	t.Helper()
	r := startRelay(t, p, "master", ourVersion()...)
	local, far := net.Pipe()
	t.Cleanup(func() { local.Close() })
	s := &slaveUnderTest{
		relayPeer: r, Slave: bridge.NewSlave(far, o), reports: json.NewDecoder(r.stdout),
		host: link{frame.NewWriter(local, nil), frame.NewReader(local, nil)}, local: local, done: make(chan error, 1),
	}
	initial := &frame.Notify{Manifest: []byte(announced), Limits: frame.DefaultLimits()}
	go func() { s.done <- s.Run(t.Context(), r.socket, initial) }()
	return s, s.next(t)
}

func (s *slaveUnderTest) next(t *testing.T) (r report) {
	t.Helper()
	require.NoError(t, s.reports.Decode(&r), s.said)
	return r
}

// toSwitch reads the reports of the frames that are due at the switch.
func (s *slaveUnderTest) toSwitch(t *testing.T, frames ...*frame.Frame) (last report) {
	t.Helper()
	for i, want := range frames {
		last = s.next(t)
		require.Equal(t, hex.EncodeToString(encode(t, want)), last.Frame, "frame %d: %s", i, last.Type)
	}
	return last
}

// fromSwitch makes the peer's master send frames.
func (s *slaveUnderTest) fromSwitch(t *testing.T, frames ...*frame.Frame) {
	t.Helper()
	link{Writer: frame.NewWriter(s.stdin, nil)}.send(t, frames...)
}

// Requirements: R1, R2, S1, S2, S3, S6, N1, N3, N4, ST1, ST2
func TestOurSlaveWithTheirMaster(t *testing.T) {
	eachPeer(t, func(t *testing.T, p *peer) {
		s, first := startSlave(t, p, nil)
		assert.Equal(t, announced, first.Manifest)
		assert.Equal(t, frame.DefaultLimits(), frame.Limits(first.Limits))

		// From the host: their master does not put frames in order, our slave does.
		response := request()
		s.host.send(t, response[1], response[0], response[4], response[3], response[2])
		s.toSwitch(t, response...)

		limits := frame.Limits{MaxFrame: 1 << 20, MaxChunk: 1 << 10, MaxReorderBuffer: 3, InitialCredit: 9}
		beat := heartbeat()
		s.host.send(t, &frame.Frame{Type: frame.TypeRelayState, ID: frame.Number(0), Payload: []byte("x")}, notifyFrame(t, "{}", limits), beat)
		last := s.toSwitch(t, beat)
		assert.Equal(t, "{}", last.Manifest)
		assert.Equal(t, limits, frame.Limits(last.Limits))

		// From the switch.
		body := request()
		state := frame.NewRelayState([]byte("resources"))
		s.fromSwitch(t, &state, notifyFrame(t, "{}", limits), body[1], body[0], body[2], body[4], body[3])
		s.host.expect(t, body...)
		payload, _ := s.State().Load()
		assert.Equal(t, "resources", string(payload))
	})
}

// Requirement: C5
func TestOurSlaveEndsWithTheirMaster(t *testing.T) {
	eachPeer(t, func(t *testing.T, p *peer) {
		s, _ := startSlave(t, p, nil)
		require.NoError(t, s.stdin.Close()) // their master closes its half of the socket
		_, err := s.host.Next()
		assert.Equal(t, io.EOF, err)
		require.NoError(t, s.local.Close())
		assert.True(t, s.next(t).End)
		assert.NoError(t, <-s.done)
		assert.Empty(t, s.wait(t))
	})
}

// Requirement: PO1
func TestOurSlavePassesTheirPolicyOn(t *testing.T) {
	s, _ := startSlave(t, findPeer(t, envNewest), nil)
	beat := heartbeat()
	s.fromSwitch(t, policyFrame(t), beat)
	s.host.expect(t, policyFrame(t), beat)
}

// Requirement: PO2
func TestOurSlaveRefusesPolicyFromTheHost(t *testing.T) {
	s, _ := startSlave(t, findPeer(t, envNewest), nil)
	s.host.send(t, policyFrame(t))
	assert.True(t, s.next(t).End, "nothing of it reaches the switch")
	assert.ErrorIs(t, <-s.done, frame.ErrProtocol)
}

// Their switch numbers nothing: all frames of a request have number 0, which a reorder buffer
// refuses as the reference implementation's does.
func TestOurSlaveRefusesUnnumberedFrames(t *testing.T) {
	s, _ := startSlave(t, findPeer(t, envV4), nil)
	body := request()
	body[1].Seq = 0
	s.fromSwitch(t, body[0])
	s.host.expect(t, body[0])
	s.fromSwitch(t, body[1])
	assert.ErrorIs(t, <-s.done, frame.ErrProtocol)
}

// Requirement: S2
func TestOurSlaveTakesUnnumberedFramesWhenTold(t *testing.T) {
	s, _ := startSlave(t, findPeer(t, envV4), &bridge.SlaveOptions{Unnumbered: true})
	body := request()
	for _, f := range body {
		f.Seq = 0
	}
	s.fromSwitch(t, body...)
	s.host.expect(t, body...)
}
