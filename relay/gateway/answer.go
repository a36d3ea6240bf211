package gateway

import (
	"context"
	"io"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/stats"
)

// An answer is a request that the gateway serves itself: a response that is there as a whole, and goes out
// under credit. What the caller sends beside CREDIT is passed over.
type answer struct {
	id     frame.ID
	limits frame.Limits
	frames []frame.Frame // that are left
	gate   *flow.Gate
	done   context.Context // ends with Cancel and Close
	cancel context.CancelCauseFunc
}

var answerStream = []byte("status")

// newAnswer returns the answer to a request, of one scalar.
func newAnswer(id frame.ID, media string, data []byte, limits frame.Limits) *answer {
	a := &answer{id: id, limits: limits, gate: flow.NewGate(limits.InitialCredit)}
	a.done, a.cancel = context.WithCancelCause(context.Background())
	start := frame.NewStreamStart(id, answerStream, []byte(media))
	start.IsSequence = frame.Some(false)
	chunks := flow.NewChunker(&start, int(min(limits.MaxChunk, frame.DefaultMaxChunk)))
	a.frames = append(a.frames, start)
	for f := range chunks.Scalar(data) {
		a.frames = append(a.frames, *f.Clone())
	}
	end := chunks.End()
	a.frames = append(a.frames, *end.Clone())
	last, _ := frame.NewEnd(id, frame.EndInfo{ExitCode: frame.Some[int64](0)})
	a.frames = append(a.frames, last)
	return a
}

func (a *answer) ID() frame.ID         { return a.id }
func (a *answer) Limits() frame.Limits { return a.limits }

func (a *answer) Send(_ context.Context, f *frame.Frame) error {
	if n, ok := f.Credit.Get(); ok && f.Type == frame.TypeCredit && f.CreditDirection() == frame.ResponseDirection {
		a.gate.Grant(n)
	}
	return nil
}

func (a *answer) Next(ctx context.Context) (*frame.Frame, error) {
	if len(a.frames) == 0 {
		return nil, io.EOF
	}
	if a.frames[0].Type == frame.TypeChunk {
		if err := a.gate.Acquire(ctx, 1); err != nil && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	if a.done.Err() != nil {
		return a.cancelled(), nil
	}
	return a.pop(), nil
}

func (a *answer) TryNext() (*frame.Frame, bool) {
	if len(a.frames) == 0 || a.done.Err() != nil || a.frames[0].Type == frame.TypeChunk && !a.gate.TryAcquire(1) {
		return nil, false
	}
	return a.pop(), true
}

func (a *answer) pop() *frame.Frame {
	f := &a.frames[0]
	a.frames = a.frames[1:]
	return f
}

// cancelled returns the end of an answer that was cancelled.
func (a *answer) cancelled() *frame.Frame {
	a.frames = nil
	return errFrame(a.id, call.CancelCause(a.done).Terminal())
}

func (a *answer) Cancel(_ bool, r frame.CancelReason) error {
	a.cancel(call.CancelledFrom(r))
	a.gate.Close(nil)
	return nil
}

func (a *answer) Drop(stats.Reason, frame.Type) {}

func (a *answer) Close() error {
	return a.Cancel(false, frame.CancelReason{})
}

// errFrame returns the ERR of an error.
func errFrame(id frame.ID, e *call.Error) *frame.Frame {
	f, err := frame.NewErr(id, e.Info())
	if err != nil {
		panic("gateway: an ERR that is none: " + err.Error()) // Info fills in what is missing
	}
	return &f
}
