package host

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/frame"
)

// A peer call through the switch: LOG, CREDIT and the response go to the requester, whatever its other requests are.
func TestPeerCall(t *testing.T) {
	r := startRig(t, nil, "demo", "good")
	q := r.req(capOf("call")+";of=demo", meta("peer", "cap:elsewhere")).body("x")
	peer := r.newReq()
	require.Equal(t, "cap:elsewhere", string(peer.Cap))
	require.Equal(t, "from demo", string(r.next(peer.ID, frame.TypeChunk).Payload))
	r.next(peer.ID, frame.TypeEnd)
	a, k := &actor{}, req{Key: peer1(peer, 1<<40), r: r}
	credit := frame.NewCredit(k.RID, []byte("arg0"), 1, frame.RequestDirection)
	credit.RoutingID = k.XID
	r.send(&credit, a.log(k.Key, "nearly there"))
	r.send(append(a.stream(k.Key, "out", "from afar"), a.end(k.Key))...)
	l, err := r.next(q.RID, frame.TypeLog).LogInfo()
	require.NoError(t, err)
	require.Equal(t, "nearly there", string(l.Message))
	require.Equal(t, "from afar", string(r.next(q.RID, frame.TypeChunk).Payload))
	q.end()
	require.Contains(t, r.told("demo"), "credit request")
	r.idle()

	r.send(a.log(k.Key, "too late"))
	r.echoes("demo")
	require.Equal(t, uint64(1), r.h.Stats().Stragglers.ByFrameType["log"])
	require.Zero(t, r.h.Stats().Drops.Total)
}

// A frame of a response that is longer than what the requester takes ends the peer call, and nothing else.
func TestFrameTooLargeForRequester(t *testing.T) {
	r := startRig(t, nil, "demo/small")
	q := r.req(capOf("call"), meta("peer", "cap:elsewhere")).body("x")
	peer := r.newReq()
	k := req{Key: peer1(peer, 1<<40), r: r}
	r.send((&actor{}).stream(k.Key, "out", string(make([]byte, 30_000)))...)
	q.err(codeFrameTooLarge, frame.AttributionInternal)
	c := r.next(peer.ID, frame.TypeCancel)
	require.True(t, c.RoutingID.IsZero())
	require.Equal(t, codeAborted, string(c.CancelReason().Code))
	r.echoes("demo")
	r.idle()
}

// Frames of a cartridge may be out of order as long as a reorder buffer can help. They go on as they came, and the end
// counts when all before it has come.
func TestFramesOutOfOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startBubble(t, nil)
		reg := r.served("demo")
		reg.Provider = Handlers(serverFunc(func(a *actor) error {
			f, err := a.in.Next()
			if err != nil {
				return err
			}
			k := req{Key: keyOf(f.ID)}.Key
			k.XID = f.RoutingID
			end, first, second := a.end(k), a.log(k, "first"), a.log(k, "second")
			end.Seq, second.Seq = 2, 1
			for _, f := range []*frame.Frame{end, second, first} {
				a.out.Write(f)
				a.out.Flush()
			}
			for err == nil {
				_, err = a.in.Next()
			}
			return nil
		}))
		require.NoError(t, r.h.Register(reg))
		q := r.req(capOf("echo")).body("x")
		q.end()
		r.idle()
		require.Zero(t, r.h.Stats().Stragglers.Total)
		require.Len(t, r.frames, 2)
		require.Equal(t, uint64(0), r.frames[0].Seq)
		require.Equal(t, uint64(1), r.frames[1].Seq)
	})
}

// A REQ that comes again while its request runs starts no second one.
func TestRequestThatComesAgain(t *testing.T) {
	r := startRig(t, nil, "demo")
	q := r.req(capOf("echo"))
	again := frame.NewReq(q.RID, []byte(capOf("echo")))
	again.RoutingID = q.XID
	r.send(&again)
	q.body("x").end()
	r.idle()
	require.Equal(t, uint64(1), r.h.Stats().Drops.ByReasonFrameType["no_route"]["req"])
	require.Equal(t, []string{"identity", "req echo", "req tell"}, r.told("demo"))
}

// A cartridge that closes its input can not be asked any more.
func TestCartridgeThatClosesItsInput(t *testing.T) {
	r := startRig(t, nil, "demo", "good")
	r.echoes("good")
	q := r.req(capOf("close-input") + ";of=demo").body("x")
	r.req(capOf("echo") + ";of=demo").body(string(make([]byte, 200<<10)))
	f := q.err(codeDied, frame.AttributionEnvironment)
	require.Contains(t, message(f), "has closed its input")
	r.echoes("demo")
	r.echoes("good")
}

// A peer call that is made while there is no relay is answered by the host.
func TestPeerCallWithoutRelay(t *testing.T) {
	r := startRig(t, &Options{Stay: true}, "demo")
	r.echoes("demo")
	require.NoError(t, r.conn.Close())
	<-r.ran
	answered := make(chan error, 1)
	require.NoError(t, r.attachServer(serverFunc(func(a *actor) error {
		peer := frame.NewReq(frame.NewUUID(), []byte("cap:elsewhere"))
		a.send(&peer)
		f, err := a.in.Next()
		if err == nil {
			err = failure(f)
		}
		answered <- err
		return nil
	})))
	require.EqualError(t, <-answered, "it failed with NO_HANDLER: no switch is there")
}

// A switch that reads nothing for a time gets one announcement for all that it has missed, and not one each.
func TestAnnouncementsDoNotPileUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startBubble(t, nil, "demo", "good")
		r.echoes("demo")
		r.hold.Lock()
		q := r.req(capOf("flood-log") + ";of=demo")
		time.Sleep(time.Hour)
		r.mu.Lock()
		before := len(r.notes)
		r.mu.Unlock()
		r.hold.Unlock()
		r.send(forceCancel(q, "CANCELLED", frame.AttributionUser, "Cancelled by user"))
		q.err("CANCELLED", frame.AttributionUser)
		r.mu.Lock()
		require.Less(t, len(r.notes)-before, 10)
		r.mu.Unlock()
		r.echoes("good")
	})
}
