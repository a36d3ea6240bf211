package endtoend

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/call"
)

// A neighbour is a request that goes on, round after round, while others misbehave: it sends a block and waits until that
// has come back.
type neighbour struct {
	name   string
	call   *call.Call
	body   *io.PipeWriter
	rounds atomic.Int64
	stop   chan struct{}
	ended  chan error
}

const (
	neighbourBlock = 8192
	roundLimit     = 20 * time.Second // far more than any round takes, on a busy machine
)

// startNeighbours begins a request of each of some cartridges, and waits for its first round.
func (r *rig) startNeighbours(names ...string) []*neighbour {
	var all []*neighbour
	for _, name := range names {
		body, w := io.Pipe()
		c, err := call.Start(r.t.Context(), r.sw, call.Request{Cap: capOf(name)},
			call.Bytes(mediaPlan, (&plan{Do: doEcho}).encode()), call.Arg{Media: mediaPayload, Body: body})
		require.NoError(r.t, err)
		n := &neighbour{name: name, call: c, body: w, stop: make(chan struct{}), ended: make(chan error, 1)}
		go func() { n.ended <- n.goOn() }()
		r.t.Cleanup(func() {
			w.Close()
			c.Close()
		})
		all = append(all, n)
	}
	for _, n := range all {
		n.awaitRounds(r.t, 1)
	}
	return all
}

func (n *neighbour) goOn() error {
	defer n.body.Close()
	block := bytes.Repeat([]byte(n.name+" "), neighbourBlock)[:neighbourBlock]
	for {
		select {
		case <-n.stop:
			n.body.Close()
			return n.read(nil)
		default:
		}
		go n.body.Write(block)
		if err := n.read(block); err != nil {
			return err
		}
		n.rounds.Add(1)
	}
}

// read reads what has to come: some bytes, or with none of them the end.
func (n *neighbour) read(want []byte) error {
	ctx, cancel := context.WithTimeoutCause(context.Background(), roundLimit, errors.New("nothing came in time"))
	defer cancel()
	for end := want == nil; end || len(want) > 0; {
		e, err := n.call.Next(ctx)
		switch {
		case err == io.EOF && end:
			return nil
		case err != nil:
			return err
		case e.Kind != call.EventData:
		case !bytes.HasPrefix(want, e.Data):
			return errors.New("what came back is not what was sent")
		default:
			want = want[len(e.Data):]
		}
	}
	return nil
}

func (n *neighbour) awaitRounds(t testing.TB, more int64) {
	t.Helper()
	want := n.rounds.Load() + more
	eventually(t, func() bool { return n.rounds.Load() >= want || len(n.ended) > 0 }, "the request of "+n.name+" goes on")
}

// endNeighbours checks that neighbours still go on, and ends them.
func (r *rig) endNeighbours(all []*neighbour) {
	r.t.Helper()
	for _, n := range all {
		n.awaitRounds(r.t, 2)
		close(n.stop)
		select {
		case err := <-n.ended:
			assert.NoError(r.t, err, "the request of %s", n.name)
		case <-time.After(roundLimit):
			r.t.Errorf("the request of %s does not end", n.name)
		}
	}
}
