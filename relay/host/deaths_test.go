package host

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/manifest"
)

// However a cartridge ends, what it serves gets one ERR each, its neighbour goes on, and the next request starts it
// again.
func TestDeaths(t *testing.T) {
	for _, c := range []struct {
		do   string
		code string
		at   frame.Attribution
		says string
	}{
		{"die", codeDied, frame.AttributionEnvironment, `cartridge "demo" 1.2.3 exited with status 3; last lines of its stderr: out of luck`},
		{"signal", codeDied, frame.AttributionEnvironment, `was ended by signal SIGKILL`},
		{"leave", codeDied, frame.AttributionEnvironment, `exited with status 0`},
		{"close-output", codeDied, frame.AttributionEnvironment, `closed its output and was killed`},
		{"half-exit", codeDied, frame.AttributionEnvironment, `exited with status 0 in the middle of a frame`},
		{"garbage", codeDied, frame.AttributionEnvironment, `wrote what is no frame (`},
		{"grandchild", codeDied, frame.AttributionEnvironment, `exited with status 4`},
		{"escape", codeDied, frame.AttributionEnvironment, `exited with status 4`},
		{"policy", codeViolation, frame.AttributionInternal, `broke the rules of the protocol: a policy`},
		{"state", codeViolation, frame.AttributionInternal, `a relay_state`},
		{"notify", codeViolation, frame.AttributionInternal, `a relay_notify`},
		{"hello", codeViolation, frame.AttributionInternal, `a hello`},
		{"req-xid", codeViolation, frame.AttributionInternal, `a REQ with a routing id`},
		{"req-nocap", codeViolation, frame.AttributionInternal, `a REQ without a cap`},
		{"req-twice", codeViolation, frame.AttributionInternal, `the id of a peer call that runs`},
		{"gap", codeViolation, frame.AttributionInternal, `comes where`},
		{"half-hang", codeUnhealthy, frame.AttributionEnvironment, `did not answer a heartbeat`},
		{"stop", codeUnhealthy, frame.AttributionEnvironment, `did not answer a heartbeat`},
	} {
		t.Run(c.do, func(t *testing.T) {
			o := &Options{}
			if c.code == codeUnhealthy {
				o.HeartbeatEvery, o.HeartbeatLimit = time.Second, 5*time.Second
			}
			r := startRig(t, o, "demo", "good")
			r.echoes("good")
			waits := r.req(capOf("never") + ";of=demo").body("x")
			ended := r.req(capOf("echo") + ";of=demo").body("x")
			ended.end()
			culprit := r.req(capOf(c.do) + ";of=demo")
			neighbour := r.req(capOf("late") + ";of=good").body("x")
			for _, q := range []req{waits, culprit} {
				f := q.err(c.code, c.at)
				require.Contains(t, message(f), c.says)
				require.Equal(t, uint64(0), f.Seq)
			}
			neighbour.end()
			e := r.event(Died)
			require.Contains(t, e.Message, c.says)
			n := r.note(func(n *manifest.Inventory) bool { return n.Records[0].Stats.Restarts == 1 })
			require.False(t, n.Records[0].Stats.Running)
			require.Nil(t, n.Records[0].AttachmentError)
			r.echoes("good")
			r.echoes("demo")
			r.idle()
			require.Zero(t, r.h.Stats().Drops.Total, "%+v", r.h.Stats())
			if c.do == "escape" {
				killAll(r.processes(), "sleep")
			}
		})
	}
}

// The ERR of a death goes on from what the cartridge has sent, in both tables.
func TestDeathHasTheNextNumber(t *testing.T) {
	r := startRig(t, nil, "demo")
	talks := r.req(capOf("exceed") + ";of=demo") // STREAM_START and 100 CHUNKs
	for range 100 {
		r.next(talks.RID, frame.TypeChunk)
	}
	silent := r.req(capOf("never") + ";of=demo")
	open := r.req(capOf("call-leave"), meta("peer", "cap:elsewhere"))
	peer := r.newReq()
	require.True(t, peer.RoutingID.IsZero())
	require.Equal(t, open.RID, peer.ReqInfo().ParentRID)
	r.req(capOf("die") + ";of=demo")

	require.Equal(t, uint64(101), talks.err(codeDied, frame.AttributionEnvironment).Seq)
	require.Equal(t, uint64(0), silent.err(codeDied, frame.AttributionEnvironment).Seq)
	open.err(codeDied, frame.AttributionEnvironment)
	f := r.next(peer.ID, frame.TypeErr)
	checkErr(t, f, codeDied, frame.AttributionEnvironment)
	require.Equal(t, uint64(1), f.Seq)
	require.True(t, f.RoutingID.IsZero())
	r.idle()
}

// A peer call whose body has ended is cancelled when its requester dies: no frame may follow the end of a flow.
func TestDeathCancelsPeerCallsThatAreWhole(t *testing.T) {
	r := startRig(t, nil, "demo")
	q := r.req(capOf("call-die"), meta("peer", "cap:elsewhere", "body", "whole"))
	peer := r.newReq()
	r.next(peer.ID, frame.TypeEnd)
	q.err(codeDied, frame.AttributionEnvironment)
	f := r.next(peer.ID, frame.TypeCancel)
	require.True(t, f.RoutingID.IsZero())
	require.Equal(t, codeAborted, string(f.CancelReason().Code))
	require.Equal(t, frame.AttributionEnvironment, f.CancelReason().Attribution)
	r.idle()
}

// Late frames of requests that a death has ended are stragglers, those of unknown ones are drops.
func TestLateFramesAreClassified(t *testing.T) {
	r := startRig(t, nil, "demo")
	q := r.req(capOf("die"))
	q.err(codeDied, frame.AttributionEnvironment)
	q.body("x")
	r.echoes("demo") // what was before has been handled
	s := r.h.Stats()
	require.Equal(t, uint64(4), s.Stragglers.Total)
	require.Equal(t, uint64(1), s.Stragglers.ByFrameType["end"])
	require.Zero(t, s.Drops.Total)

	unknown := req{q.Key, r}
	unknown.RID = frame.NewUUID()
	unknown.body("x")
	credit := frame.NewCredit(unknown.RID, nil, 1, frame.NoDirection)
	credit.RoutingID = unknown.XID
	r.send(&credit)
	r.echoes("demo")
	s = r.h.Stats()
	require.Equal(t, uint64(5), s.Drops.Total)
	require.Equal(t, uint64(1), s.Drops.ByReasonFrameType["no_route"]["chunk"])
	require.Equal(t, uint64(1), s.Drops.ByReasonFrameType["no_route"]["credit"])
}

// A cartridge that floods its standard error is read all the same; its last lines are kept.
func TestStderrIsDrained(t *testing.T) {
	var log lines
	r := startRig(t, &Options{Logger: log.logger()}, "demo", "good")
	q := r.req(capOf("stderr") + ";of=demo").body("x")
	r.echoes("good")
	q.end()
	f := r.req(capOf("die")+";of=demo").err(codeDied, frame.AttributionEnvironment)
	said := message(f)
	_, tail, _ := strings.Cut(said, "last lines of its stderr: ")
	require.True(t, strings.HasPrefix(tail, truncated+"yyy"), "%.80s", tail)
	require.True(t, strings.HasSuffix(tail, "y\nout of luck"), "%s", tail[len(tail)-20:])
	require.Less(t, len(tail), stderrKept+len(truncated)+1)
	require.Equal(t, 100_002, log.count("stderr"))
	require.LessOrEqual(t, log.longest, lineKept)
}

// A cartridge that floods the relay waits for the switch, and only it does.
func TestFloodWaitsAlone(t *testing.T) {
	for _, do := range []string{"flood-log", "flood-stray"} {
		t.Run(do, func(t *testing.T) {
			r := startRig(t, nil, "demo", "good")
			q := r.req(capOf(do) + ";of=demo")
			for range 20 {
				r.echoes("good")
				r.mu.Lock()
				r.frames = nil // all of the flood
				r.mu.Unlock()
			}
			r.send(forceCancel(q, "CANCELLED", frame.AttributionUser, "Cancelled by user"))
			q.err("CANCELLED", frame.AttributionUser)
			r.echoes("demo")
		})
	}
}

// A cartridge that sends more than its credit is nothing that a host looks at: that is for the ends to judge.
func TestCreditIsTheBusinessOfTheEnds(t *testing.T) {
	r := startRig(t, nil, "demo")
	q := r.req(capOf("exceed"))
	for range 100 {
		r.next(q.RID, frame.TypeChunk)
	}
	r.send(forceCancel(q, "CREDIT_VIOLATION", frame.AttributionInternal, "a chunk beyond the credit"))
	q.err("CREDIT_VIOLATION", frame.AttributionInternal)
	r.idle()
}

// A frame under the ids of another cartridge's request ends the one that sends it.
func TestFramesOfAnotherCartridgesRequest(t *testing.T) {
	r := startRig(t, nil, "demo", "good")
	victim := r.req(capOf("late") + ";of=good")
	culprit := r.req(capOf("foreign")+";of=demo", func(f *frame.Frame) {
		var b frame.MetaBuilder
		b.Text("rid", victim.RID.String())
		xid, _ := victim.XID.Number()
		b.Uint("xid", xid)
		f.Meta, _ = b.Meta()
	})
	f := culprit.err(codeViolation, frame.AttributionInternal)
	require.Contains(t, message(f), "another cartridge's")
	victim.body("x").end()
}

// With Strict the violation of a cartridge ends the host.
func TestStrict(t *testing.T) {
	r := startRig(t, &Options{Strict: true}, "demo", "good")
	r.echoes("good")
	r.req(capOf("policy") + ";of=demo")
	err := <-r.ran
	require.ErrorIs(t, err, frame.ErrProtocol)
	require.ErrorContains(t, err, "a policy")
	r.noProcesses()
}
