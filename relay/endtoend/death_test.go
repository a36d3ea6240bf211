package endtoend

import (
	"errors"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/relaytest"
	"github.com/cosim-go/cosim/relay/stats"
)

// Requirements: C5, W3. A host that is killed while a thousand requests run on it: each gets MASTER_DIED, those on
// another host finish, its cartridges are gone, and the same host joins again and serves.
func TestHostKilledWithAThousandRequests(t *testing.T) {
	const running = 1000
	relaytest.NoLeaks(t)
	r := newRig(t)
	doomed := r.startHostProcess("doomed", "c0", "c1")
	r.startHost("other", "c2")

	waiting := r.startWaiting(running, "c0", "c1")
	neighbours := r.startWaiting(20, "c2")
	began := time.Now()
	require.NoError(t, doomed.Process.Kill())
	doomed.Wait()

	for _, c := range waiting {
		e := endOf(t, c)
		require.NotNil(t, e)
		assert.Equal(t, "MASTER_DIED", e.Code)
		assert.Equal(t, frame.AttributionEnvironment, e.Attribution)
		assert.Contains(t, e.Message, `"doomed"`)
	}
	t.Logf("%d requests were told within %v", running, time.Since(began))
	r.awaitOnlyProcessesOf("c2")

	for _, c := range neighbours {
		c.release()
		assert.Nil(t, endOf(t, c))
	}
	r.startHostProcess("doomed", "c0", "c1")
	out, err := call.Do(t.Context(), r.sw, capOf("c1"), call.Bytes(mediaPlan, (&plan{Do: doEcho}).encode()), call.Bytes(mediaPayload, []byte("again")))
	require.NoError(t, err)
	assert.Equal(t, "again", string(out))
	assert.Len(t, r.sw.Health(), 2, "masters: the host has its old place")
	assert.Equal(t, uint64(running), r.sw.Stats().Requests.TerminatedByKind[stats.KindMasterDied])
}

// A pendingCall is one whose handler echoes a payload that does not end before it is released.
type pendingCall struct {
	*call.Call
	body *io.PipeWriter
}

func (c *pendingCall) release() { c.body.Close() }

// startWaiting begins requests, spread over cartridges, and waits until the handler of each has answered the first
// bytes of its payload.
func (r *rig) startWaiting(n int, names ...string) []*pendingCall {
	calls := make([]*pendingCall, n)
	var begun sync.WaitGroup
	for i := range calls {
		begun.Go(func() {
			body, w := io.Pipe()
			c, err := call.Start(r.t.Context(), r.sw, call.Request{Cap: capOf(names[i%len(names)])},
				call.Bytes(mediaPlan, (&plan{Do: doEcho}).encode()), call.Arg{Media: mediaPayload, Body: body})
			if !assert.NoError(r.t, err) {
				return
			}
			calls[i] = &pendingCall{c, w}
			w.Write(make([]byte, 8192))
			for {
				e, err := c.Next(r.t.Context())
				if !assert.NoError(r.t, err) || e.Kind == call.EventData {
					return
				}
			}
		})
	}
	begun.Wait()
	r.t.Cleanup(func() {
		for _, c := range calls {
			if c != nil {
				c.body.Close()
				c.Close()
			}
		}
	})
	if r.t.Failed() {
		r.t.FailNow()
	}
	return calls
}

// endOf returns how a call ended: nil for success.
func endOf(t testing.TB, c *pendingCall) *call.Error {
	for {
		_, err := c.Next(t.Context())
		if errors.Is(err, io.EOF) {
			return nil
		}
		var e *call.Error
		if errors.As(err, &e) {
			return e
		}
		require.NoError(t, err)
	}
}
