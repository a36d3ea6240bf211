package host

import (
	"context"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/internal/pipe"
	"github.com/cosim-go/cosim/relay/manifest"
)

// served returns the registration of an actor in this process.
func (r *rig) served(name string) Registration {
	return Registration{
		Install: install(name), Groups: manifestOf(name, "").Groups, Provider: Handlers(inProcess{name: name}),
	}
}

// startBubble runs a host with actors in this process, all in memory, in a bubble of synctest.
func startBubble(t *testing.T, o *Options, names ...string) *rig {
	t.Helper()
	if o == nil {
		o = &Options{}
	}
	o.AllowEmpty = true
	r := newRig(t, o)
	r.patience = bubblePatience
	for _, name := range names {
		require.NoError(t, r.h.Register(r.served(name)))
	}
	near, far := pipe.New(0)
	r.conn, r.ran = near, make(chan error, 1)
	r.out = frame.NewWriter(near, nil)
	go r.read(near)
	go func() { r.ran <- r.h.Run(context.Background(), far) }()
	t.Cleanup(func() {
		near.Close()
		r.h.Close()
	})
	r.note(func(*manifest.Inventory) bool { return true })
	return r
}

// The limits of a start, with their defaults.
func TestStartLimits(t *testing.T) {
	for _, c := range []struct {
		behaviour string
		limit     time.Duration
		kind      manifest.AttachmentKind
	}{
		{"mute", 15 * time.Second, manifest.HandshakeFailed},
		{"identity-hang", 15 * time.Second, manifest.IdentityRejected},
	} {
		t.Run(c.behaviour, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := startBubble(t, nil, "good")
				reg := r.served("demo")
				reg.Provider = Handlers(inProcess{"demo", c.behaviour})
				require.NoError(t, r.h.Register(reg))
				begun := time.Now()
				q := r.req(capOf("echo") + ";of=demo")
				r.echoes("good")
				require.Zero(t, time.Since(begun))
				q.err(codeSpawnFailed, frame.AttributionEnvironment)
				require.GreaterOrEqual(t, time.Since(begun), c.limit)
				require.Less(t, time.Since(begun), c.limit+2*killLimit)
				require.Equal(t, c.kind, r.h.Inventory()[1].AttachmentError.Kind)
			})
		})
	}
}

// A heartbeat every 30 s, and 10 s for its answer.
func TestHeartbeatLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startBubble(t, nil, "demo", "good")
		r.echoes("good")
		q := r.req(capOf("deaf") + ";of=demo")
		begun := time.Now()
		f := q.err(codeUnhealthy, frame.AttributionEnvironment)
		require.Contains(t, message(f), "did not answer a heartbeat within 10s")
		require.GreaterOrEqual(t, time.Since(begun), 35*time.Second)
		require.Less(t, time.Since(begun), 50*time.Second)
		require.NotNil(t, r.h.Inventory()[1].Stats.LastHeartbeat)
		require.Equal(t, uint64(12), r.h.Inventory()[1].Stats.RSSMB)
		require.Equal(t, uint64(1), *r.h.Inventory()[1].Stats.Drops)
		r.echoes("good")
		r.echoes("demo")
	})
}

// Requirement: N3
// An answer to a heartbeat that tells something but not its pools breaks the rules.
func TestHeartbeatAnswerWithoutPools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startBubble(t, nil, "demo", "good")
		r.echoes("good")
		q := r.req(capOf("no-pools-answer") + ";of=demo")
		f := q.err(codeViolation, frame.AttributionInternal)
		require.Contains(t, message(f), "the pools in its answer to a heartbeat")
		r.echoes("good")
		r.echoes("demo")
	})
}

// Requirements: C2, N3
// Announcements: first at the start, after every attempt to start, death and change of the roster, every 2 s while something
// runs, and not else.
func TestAnnouncements(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startBubble(t, nil, "demo")
		count := func() int {
			synctest.Wait()
			r.mu.Lock()
			defer r.mu.Unlock()
			n := len(r.notes)
			r.notes = nil
			return n
		}
		time.Sleep(time.Hour)
		require.Zero(t, count(), "nothing has changed and nothing runs")
		r.echoes("demo")
		require.Equal(t, 1, count(), "it was started")
		time.Sleep(21 * time.Second)
		require.Equal(t, 10, count(), "it runs")
		r.req(capOf("leave")).err(codeDied, frame.AttributionEnvironment)
		require.Equal(t, 1, count(), "it died")
		time.Sleep(time.Hour)
		require.Zero(t, count(), "nothing runs any more")
		require.NoError(t, r.h.Register(r.served("good")))
		require.Equal(t, 1, count(), "one more")
		r.sync()
		require.Equal(t, 1, count(), "the roster")
	})
}

// A table that is too full gives up what was not used for the longest time.
func TestTablesAreSwept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startBubble(t, nil, "demo")
		first := r.req(capOf("never"))
		var all []req
		for range softMark {
			all = append(all, r.req(capOf("never")))
		}
		credit := frame.NewCredit(first.RID, nil, 1, frame.ResponseDirection)
		credit.RoutingID = first.XID
		r.send(&credit) // which is a use
		synctest.Wait()
		require.Equal(t, uint64(softMark+1), r.h.Stats().IncomingRXIDs)
		time.Sleep(3 * time.Second)
		s := r.h.Stats()
		require.Equal(t, uint64(softMark+1-share), s.IncomingRXIDs)
		require.Equal(t, uint64(1), s.RoutingGCRuns)
		require.Equal(t, uint64(share), s.RoutingGCEvicted)
		all[0].body("x") // of which nothing is known any more: a real loss
		first.body("x")
		synctest.Wait()
		require.Equal(t, uint64(4), r.h.Stats().Drops.Total)

		for range hardMark { // faster than a tick
			r.req(capOf("never"))
		}
		synctest.Wait()
		s = r.h.Stats()
		require.LessOrEqual(t, s.IncomingRXIDs, uint64(hardMark))
		require.Greater(t, s.RoutingGCRuns, uint64(1))
	})
}

// A cartridge that does not read is ended: after 10 s with more in its queue than may wait, at once with four times as
// much. The relay goes on meanwhile.
func TestCartridgeThatDoesNotRead(t *testing.T) {
	for _, c := range []struct {
		name     string
		size     int
		min, max time.Duration
		says     string
	}{
		{"some", 2 << 20, 10 * time.Second, 11 * time.Second, "takes nothing of what is sent to it"},
		{"much", 6 << 20, 0, time.Second, "more waits for it than can be kept"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := startBubble(t, &Options{MaxQueued: 1 << 20}, "good")
				r.echoes("good")
				reg := r.served("demo")
				reg.Provider = Handlers(serverFunc(func(a *actor) error {
					time.Sleep(time.Hour)
					return nil
				}))
				require.NoError(t, r.h.Register(reg))
				q := r.req(capOf("never") + ";of=demo")
				begun := time.Now()
				piece := make([]byte, 100<<10)
				for i := range c.size / len(piece) {
					f := frame.NewChunk(q.RID, []byte("arg0"), uint64(i), piece, 1)
					f.RoutingID = q.XID
					r.send(&f)
				}
				r.echoes("good")
				f := q.err(codeUnhealthy, frame.AttributionEnvironment)
				require.Contains(t, message(f), c.says)
				require.GreaterOrEqual(t, time.Since(begun), c.min)
				require.Less(t, time.Since(begun), c.max+2*killLimit)
				r.conn.Close()
				time.Sleep(2 * time.Hour)
			})
		})
	}
}

// A server that does not end is left behind, and holds up neither Run nor the next start for long.
func TestHandlersThatDoNotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		defer close(release)
		r := startBubble(t, nil, "good")
		reg := r.served("demo")
		reg.Provider = Handlers(stubborn{release})
		require.NoError(t, r.h.Register(reg))
		r.echoes("demo")
		q := r.req(capOf("leave") + ";of=demo")
		synctest.Wait()
		next := r.req(capOf("echo") + ";of=demo").body("x") // waits for the next process
		f := q.err(codeDied, frame.AttributionEnvironment)
		require.Contains(t, message(f), "did not end when it was killed")
		next.end()
		r.conn.Close()
		<-r.ran
	})
}

type stubborn struct{ release chan struct{} }

func (s stubborn) Serve(ctx context.Context, conn io.ReadWriteCloser) error {
	err := inProcess{name: "demo"}.Serve(ctx, conn)
	conn.Close()
	<-s.release
	return err
}
