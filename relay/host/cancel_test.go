package host

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
)

func peer1(f *frame.Frame, xid uint64) flow.Key { return flow.Key{RID: f.ID, XID: frame.Number(xid)} }

// cancel cancels a request.
func (q req) cancel(code string, at frame.Attribution, message string) {
	q.r.t.Helper()
	f := forceCancel(q, code, at, message)
	f.ForceKill = frame.Optional[bool]{}
	q.r.send(f)
}

// A CANCEL goes to the cartridge, and to the peer calls that were made for the request. No END of the body comes any more,
// and the entry goes with the ERR of the response.
func TestCancelWithChildren(t *testing.T) {
	r := startRig(t, nil, "demo")
	q := r.req(capOf("call"), meta("peer", "cap:elsewhere"))
	peer := r.newReq()
	q.cancel("CANCELLED", frame.AttributionUser, "Cancelled by user")
	q.err("CANCELLED", frame.AttributionUser)
	f := r.next(peer.ID, frame.TypeCancel)
	require.True(t, f.RoutingID.IsZero())
	require.False(t, f.ForceKill.Or(false))
	require.Equal(t, "Cancelled by user", string(f.CancelReason().Message))
	require.Equal(t, uint64(1), r.h.Stats().OutgoingRIDs, "the peer call ends with its response")
	end, _ := frame.NewErr(peer.ID, frame.ErrInfo{Code: []byte("CANCELLED"), Attribution: frame.AttributionUser, Message: []byte("x")})
	end.RoutingID = frame.Number(77)
	r.send(&end)
	r.idle()
	q.cancel("CANCELLED", frame.AttributionUser, "again") // changes nothing
	r.echoes("demo")
}

// A forced cancel kills the process, with everything else that it serves, and all end in the words of the cancel.
func TestForcedCancelKillsAllRequests(t *testing.T) {
	for _, c := range []struct {
		code, message string
		at            frame.Attribution
		wantCode      string
		wantAt        frame.Attribution
		want          string
	}{
		{"CANCELLED", "Cancelled by user", frame.AttributionUser, "CANCELLED", frame.AttributionUser, "Cancelled by user"},
		{"ABORTED", "it takes too long", frame.AttributionResource, "ABORTED", frame.AttributionResource, "the host aborted the request: it takes too long"},
		{"ABORTED_COLLATERAL", "step 3", frame.AttributionInput, "ABORTED_COLLATERAL", frame.AttributionInput, "the request was aborted because of a failure elsewhere: step 3"},
		{"", "", frame.NoAttribution, "CANCELLED", frame.AttributionInternal, "the request was cancelled"},
	} {
		t.Run(c.wantCode+" "+c.message, func(t *testing.T) {
			r := startRig(t, nil, "demo", "good")
			other, q := r.req(capOf("never")+";of=demo").body("x"), r.req(capOf("never")+";of=demo")
			call := r.req(capOf("call-leave")+";of=demo", meta("peer", "cap:elsewhere"))
			peer := r.newReq()
			neighbour := r.req(capOf("late") + ";of=good").body("x")
			r.send(forceCancel(q, c.code, c.at, c.message))
			for _, q := range []req{q, other, call} {
				f := q.err(c.wantCode, c.wantAt)
				require.Equal(t, c.want, message(f))
			}
			checkErr(t, r.next(peer.ID, frame.TypeErr), c.wantCode, c.wantAt)
			neighbour.end()
			r.echoes("demo")
			r.idle()
		})
	}
}

// A cancel reaches a request that still waits for the start of its cartridge.
func TestCancelWhileStarting(t *testing.T) {
	r := startRig(t, &Options{HelloLimit: time.Minute}, "demo/mute", "good")
	q, other := r.req(capOf("echo")+";of=demo"), r.req(capOf("echo")+";of=demo")
	require.Eventually(t, func() bool { return len(r.processes()) == 1 }, patience, time.Millisecond)
	q.cancel("CANCELLED", frame.AttributionUser, "Cancelled by user")
	r.send(forceCancel(q, "CANCELLED", frame.AttributionUser, "Cancelled by user"))
	for _, q := range []req{q, other} {
		q.err("CANCELLED", frame.AttributionUser)
	}
	r.event(Died) // which is not final
	require.Nil(t, r.h.Inventory()[0].AttachmentError)
	r.echoes("good")
	r.idle()
}

func TestKill(t *testing.T) {
	r := startRig(t, nil, "demo", "good")
	require.False(t, r.h.KillOutOfMemory(install("demo"), "used more than 4 GiB"), "it does not run")
	q := r.req(capOf("never") + ";of=demo")
	r.event(Started)
	require.True(t, r.h.KillOutOfMemory(install("demo"), "used more than 4 GiB"))
	f := q.err(codeOutOfMemory, frame.AttributionResource)
	require.Equal(t, `cartridge "demo" 1.2.3 used more than 4 GiB`, message(f))
	q = r.req(capOf("never") + ";of=demo")
	r.event(Started)
	require.True(t, r.h.Kill(install("demo"), frame.CancelReason{Code: []byte("ABORTED"), Attribution: frame.AttributionEnvironment, Message: []byte("maintenance")}))
	require.Equal(t, "the host aborted the request: maintenance", message(q.err("ABORTED", frame.AttributionEnvironment)))
	r.echoes("demo")
}

// CLOSE_STREAM asks a handler, and changes nothing.
func TestCloseStream(t *testing.T) {
	r := startRig(t, nil, "demo")
	q := r.req(capOf("late"))
	f := frame.NewCloseStream(q.RID, nil)
	f.RoutingID = q.XID
	r.send(&f)
	l, err := r.next(q.RID, frame.TypeLog).LogInfo()
	require.NoError(t, err)
	require.Equal(t, "closing", string(l.Message))
	q.body("x").end()
	f.ID = frame.NewUUID() // unknown
	r.send(&f)
	r.echoes("demo")
	r.idle()
	require.Zero(t, r.h.Stats().Drops.Total)
}

// keyOf returns the key of a request without routing id.
func keyOf(id frame.ID) flow.Key { return flow.Key{RID: id} }
