package endtoend

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/host"
	"github.com/cosim-go/cosim/relay/stats"
)

// A response beyond its credit ends that request alone; its cartridge is told, and lives.
func exceedCredit(t *testing.T) {
	b := startBad(t, "", host.Options{})
	q := b.ask("exceed the credit")
	b.told() // comes behind all that q gets
	_, err := q.Collect(t.Context())
	b.checkError(err, "CREDIT_VIOLATION", frame.AttributionInternal, "beyond its credit")
	last := b.sw.Stats().Requests.RecentTerminated
	require.Len(t, last, 2)
	assert.Equal(t, stats.KindCancelled, last[1].Kind)
	assert.Equal(t, "CREDIT_VIOLATION", last[1].CancelCode)
	assert.Equal(t, "internal", last[1].CancelClass)
	assert.Equal(t, map[stats.Reason]map[string]uint64{stats.CreditViolation: {"chunk": 1}}, b.sw.Stats().Drops.ByReasonFrameType)

	assert.Contains(t, b.told(), "cancel CREDIT_VIOLATION internal")
	b.unharmed()
	assert.Equal(t, map[stats.Kind]uint64{stats.KindCancelled: 1, stats.KindEnd: 5}, b.sw.Stats().Requests.TerminatedByKind)
	assert.Equal(t, map[string]uint64{"err": 1}, b.sw.Stats().Stragglers.ByFrameType, "its ERR came after the cancel")
	assert.Zero(t, b.host.Stats().Drops.Total)
}

// The body of a peer call beyond its credit ends the peer call alone; its handler counts it, and lives.
func exceedCreditAsRequester(t *testing.T) {
	b := startBad(t, "", host.Options{HeartbeatEvery: quickProbe.HeartbeatEvery})
	_, err := b.ask("exceed the credit of a peer call").Collect(t.Context())
	b.checkError(err, "CREDIT_VIOLATION", frame.AttributionInternal, "beyond its credit")
	eventually(t, func() bool {
		for _, r := range b.sw.Inventory() {
			if r.Install.ID == "c0" && r.Stats.Drops != nil && *r.Stats.Drops == 1 {
				return true
			}
		}
		return false
	}, "the handler says that it has lost a frame")
	b.unharmed()
	assert.Equal(t, map[stats.Kind]uint64{stats.KindErr: 2, stats.KindEnd: 3}, b.sw.Stats().Requests.TerminatedByKind)
	assert.Zero(t, b.sw.Stats().Drops.Total, "%+v", b.sw.Stats().Drops)
	assert.Zero(t, b.host.Stats().Drops.Total, "%+v", b.host.Stats().Drops)
}

// Frames of no request are counted, each once, and hurt nobody.
func floodOfNoRequest(t *testing.T) {
	b := startBad(t, "", host.Options{})
	_, err := b.ask("strays").Collect(t.Context())
	require.NoError(t, err)
	atSwitch, atHost := b.sw.Stats().Drops, b.host.Stats().Drops
	assert.EqualValues(t, strays, atSwitch.ByReason[stats.NoRoute]+atHost.ByReason[stats.NoRoute])
	assert.EqualValues(t, strays, atSwitch.Total+atHost.Total)
	b.unharmed()
}

// A flood of what costs no credit, which nobody reads, ends with the channel that it fills.
func floodOfLogs(t *testing.T) {
	b := startBad(t, "", host.Options{})
	q := b.ask("logs")
	eventually(t, func() bool { return b.sw.Stats().Drops.ByReason[stats.CreditViolation] > 0 }, "the channel is full")
	_, err := q.Collect(t.Context())
	b.checkError(err, "CREDIT_VIOLATION", frame.AttributionInternal, "does not fit into its channel")
	assert.Equal(t, stats.KindErr, b.sw.Stats().Requests.RecentTerminated[0].Kind)
	assert.Equal(t, map[stats.Reason]map[string]uint64{stats.CreditViolation: {"log": 1}}, b.sw.Stats().Drops.ByReasonFrameType)

	assert.Contains(t, b.told(), "cancel CREDIT_VIOLATION internal")
	s := b.sw.Stats().Stragglers.ByFrameType
	assert.EqualValues(t, 1, s["err"], "its ERR came after the cancel")
	b.unharmed()
	assert.Zero(t, b.host.Stats().Drops.Total)
}

// unharmed checks that the bad cartridge and all others go on in the processes that they have.
func (b *badRig) unharmed() {
	b.t.Helper()
	r := b.record()
	assert.Nil(b.t, r.AttachmentError)
	assert.Zero(b.t, r.Stats.Restarts)
	_, err := call.Do(b.t.Context(), b.sw, capOf("c0"), call.Bytes(mediaPlan, (&plan{Do: doEcho}).encode()), call.Bytes(mediaPayload, nil))
	assert.NoError(b.t, err)
	b.endNeighbours(b.neighbours)
	b.checkEnd()
}
