package endtoend

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/frame"
)

const maxPayload = 8 << 20 // bytes

// How a request is to end, beside what its plan says.
const (
	leave  = ""       // as the plan says
	cancel = "cancel" // it is cancelled, in the user's name
	force  = "force"  // it is cancelled with the process that serves it
)

// A request is one of a run: what is asked of whom, and what happens to it meanwhile.
type request struct {
	number  int
	to      string // name of the cartridge
	peer    string // name of the one that it asks; "" for none
	plan    plan
	payload []byte
	fate    string
	after   time.Duration // until its fate
}

var codeForced = "FORCED" // the code of forced cancels, by which they are told from others

// newRequest makes a request of a random kind.
func newRequest(number int, rnd *rand.Rand, names []string, block []byte, most int) *request {
	r := &request{number: number, to: names[rnd.IntN(len(names))]}
	size := int(math.Exp(rnd.Float64()*math.Log(float64(most)+1))) - 1
	from := rnd.IntN(len(block) - size + 1)
	r.payload = block[from : from+size]
	if rnd.IntN(3) == 0 {
		r.plan.Delay = time.Duration(rnd.IntN(int(20 * time.Millisecond)))
	}
	if rnd.IntN(3) == 0 {
		r.plan.Pause = time.Duration(rnd.IntN(int(20 * time.Millisecond)))
	}
	r.choose(rnd, names)
	return r
}

func (r *request) choose(rnd *rand.Rand, names []string) {
	r.plan.Do = doEcho
	switch n := rnd.IntN(1000); {
	case n < 200:
		r.plan.Do = doPeer
		r.peer = names[rnd.IntN(len(names))]
		r.plan.Peer = capOf(r.peer)
	case n < 250:
		r.plan.Do = doCount
	case n < 300:
		r.plan.Do = doFail
	case n < 450:
		r.plan.Do = doWait
		r.fate = cancel
	case n < 600:
		r.fate = cancel
	case n < 604:
		r.plan.Do = doWait
		r.fate = force
	case n < 608:
		r.plan.Do = doExit
	case n < 612:
		r.plan.Do = doDie
	}
	if r.fate != leave {
		r.after = time.Duration(rnd.IntN(int(40 * time.Millisecond)))
	}
}

// An ending is how a request ended.
type ending struct {
	err  error // nil for success
	same bool  // what came back is what was sent, as far as it came
	size int   // bytes that came back
}

// run makes the request and waits for its end.
func (r *request) run(ctx context.Context, o call.Opener, k *kills) ending {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	done := r.announce(k)
	defer done()
	c, err := call.Start(ctx, o, call.Request{Cap: capOf(r.to)},
		call.Bytes(mediaPlan, r.plan.encode()), call.Bytes(mediaPayload, r.payload))
	if err != nil {
		return ending{err: err, same: true}
	}
	defer c.Close()
	if r.fate != leave {
		timer := time.AfterFunc(r.after, func() {
			reason := call.ErrCancelledByUser
			if r.fate == force {
				reason = &call.Cancelled{Code: codeForced, Attribution: frame.AttributionResource, Message: "killed by the test"}
			}
			c.Cancel(r.fate == force, reason)
		})
		defer timer.Stop()
	}
	return r.read(ctx, c)
}

// announce tells the kills that this request may kill its cartridge.
func (r *request) announce(k *kills) (done func()) {
	switch {
	case r.fate == force:
		return k.begin(r.to, byForce)
	case r.plan.Do == doExit, r.plan.Do == doDie:
		return k.begin(r.to, byItself)
	}
	return func() {}
}

func (r *request) read(ctx context.Context, c *call.Call) ending {
	want := r.payload
	if r.plan.Do == doCount {
		want = strconv.AppendInt(nil, int64(len(r.payload)), 10)
	}
	end := ending{same: true}
	for {
		e, err := c.Next(ctx)
		if errors.Is(err, io.EOF) {
			end.same = end.same && end.size == len(want)
			return end
		}
		if err != nil {
			end.err = err
			return end
		}
		if e.Kind == call.EventData {
			from := min(end.size, len(want))
			end.same = end.same && bytes.HasPrefix(want[from:], e.Data)
			end.size += len(e.Data)
		}
	}
}

// A tally counts endings.
type tally struct {
	fine, refused, cancelled, killed atomic.Int64
	bytes                            atomic.Int64
}

// judge says what is wrong with an ending, if anything is.
func (r *request) judge(end ending, since time.Time, k *kills, t *tally) error {
	t.bytes.Add(int64(end.size))
	if !end.same {
		return r.errorf("%d bytes came back, not those that were sent", end.size)
	}
	if end.err == nil {
		t.fine.Add(1)
		return r.judgeSuccess()
	}
	var e *call.Error
	if !errors.As(end.err, &e) {
		return r.errorf("ended with %v, which is no error of the protocol", end.err)
	}
	return r.judgeError(e, since, k, t)
}

func (r *request) judgeSuccess() error {
	switch r.plan.Do {
	case doEcho, doCount, doPeer:
		return nil
	}
	return r.errorf("ended well")
}

func (r *request) judgeError(e *call.Error, since time.Time, k *kills, t *tally) error {
	places := []string{r.to}
	if r.peer != "" {
		places = append(places, r.peer)
	}
	switch {
	case e.Code == codeRefused && e.Attribution == frame.AttributionInput && r.plan.Do == doFail:
		t.refused.Add(1)
	case e.Code == call.CodeCancelled && e.Attribution == frame.AttributionUser && r.fate == cancel:
		t.cancelled.Add(1)
	case e.Code == "CARTRIDGE_DIED" && e.Attribution == frame.AttributionEnvironment && k.explain(byItself, since, places...),
		e.Code == codeForced && e.Attribution == frame.AttributionResource && k.explain(byForce, since, places...):
		t.killed.Add(1)
	default:
		return r.errorf("ended with %v", e)
	}
	return nil
}

func (r *request) errorf(format string, args ...any) error {
	return fmt.Errorf("request %d (%s on %s, peer %q, %d bytes, fate %q): %s",
		r.number, r.plan.Do, r.to, r.peer, len(r.payload), r.fate, fmt.Sprintf(format, args...))
}
