package cartridge

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/cosim-go/cosim/relay/admission"
	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
)

// maxMessage is how long a message in a frame of the cartridge's own may be, in bytes.
const maxMessage = 64 << 10

// errGoexit is the error of a handler that ended its goroutine instead of returning.
var errGoexit = errors.New("the handler ended its goroutine without returning")

// run waits until the request is admitted, serves it and ends it.
func (r *Request) run(place admission.Place) {
	if place.Waits() {
		r.log("queued", frame.AttributionResource, "waiting for a place among the requests that are served")
	}
	permit, err := place.Wait(r.ctx)
	if err == nil && r.ctx.Err() != nil {
		permit.Release()
		err = context.Cause(r.ctx)
	}
	if err != nil {
		r.finish(err)
		return
	}
	if place.Waits() {
		r.log("dequeued", frame.AttributionResource, "served now")
	}
	err = errGoexit
	defer func() {
		if v := recover(); v != nil {
			err = r.panicked(v)
		}
		if err == nil {
			err = r.closeOutputs()
		}
		permit.Release()
		r.finish(err)
	}()
	err = r.handler.serve(r.ctx, r)
}

// panicked makes an error of a panic.
func (r *Request) panicked(v any) error {
	r.session.log.Error("a handler panicked", "cap", r.cap, "flow", r.id, "panic", v, "stack", string(debug.Stack()))
	return fmt.Errorf("the handler panicked: %v", v)
}

// closeOutputs ends the streams that the handler left open.
func (r *Request) closeOutputs() error {
	for i := 0; ; i++ {
		r.mu.Lock()
		if i >= len(r.outputs) {
			r.mu.Unlock()
			return nil
		}
		o := r.outputs[i]
		r.mu.Unlock()
		if err := o.close(); err != nil {
			return err
		}
	}
}

// finish sends the END, or the ERR that err or an earlier failure stands for, and lets go all that the request has.
func (r *Request) finish(err error) {
	r.closePeers()
	s := r.session
	s.mu.Lock()
	r.mu.Lock()
	e := r.failure
	switch {
	case e != nil:
	case s.life.Err() != nil: // whatever the handler made of it
		e = errHostGone.Terminal()
	case err != nil:
		e = errorOf(err)
	}
	r.ended = true
	r.stir()
	inputs := r.inputs
	r.mu.Unlock()
	delete(s.requests, flow.Key{RID: r.id, XID: r.xid})
	s.ended.Add(r.id)
	s.ends++
	r.endedAt = s.ends
	r.sendEnd(e)
	s.mu.Unlock()
	s.out.Flush()
	r.end(call.ErrEnded)
	r.gates.CloseAll(call.ErrEnded)
	for _, in := range inputs {
		in.box.Drop()
	}
}

// sendEnd sends the terminal. The lock of the session is held.
func (r *Request) sendEnd(e *Error) {
	if e != nil {
		r.session.sendErr(r.id, r.xid, e)
		return
	}
	info := frame.EndInfo{ExitCode: frame.Some[int64](0), Progress: r.progress}
	if r.message != "" {
		info.Message = []byte(r.message)
	}
	f, err := frame.NewEnd(r.id, info)
	if err != nil {
		panic("cartridge: an END that cannot be made: " + err.Error())
	}
	f.RoutingID = r.xid
	r.session.out.Send(&f)
}

// errorOf returns the ERR that the error of a handler stands for. A message that is very long is cut.
func errorOf(err error) *Error {
	e := &Error{Code: call.CodeHandlerError, Attribution: frame.AttributionInternal, Message: err.Error()}
	var own *Error
	if errors.As(err, &own) {
		e = &Error{Code: own.Code, Attribution: own.Attribution, Message: own.Message, ArgURN: own.ArgURN}
	}
	e.Message = text(e.Message)
	return e
}

// text returns a message that fits into a frame.
func text(message string) string {
	if len(message) > maxMessage {
		message = message[:maxMessage] + " ..."
	}
	return strings.ToValidUTF8(message, "\uFFFD")
}

// cancel ends the request for a reason of the requester's; the ERR says it when the handler has ended. Only the first
// one counts.
func (r *Request) cancel(reason *call.Cancelled) { r.abort(reason.Terminal(), reason, reason) }

// fail ends the request because its body breaks the rules.
func (r *Request) fail(e *Error) {
	r.abort(e, e, &call.Cancelled{
		Code: call.CodeCollateral, Attribution: e.Attribution, Message: e.Message,
	})
}

// abort ends what the handler waits for, and its peer calls.
func (r *Request) abort(terminal *Error, cause error, forPeers *call.Cancelled) {
	r.mu.Lock()
	if r.failure != nil || r.ended {
		r.mu.Unlock()
		return
	}
	r.failure = terminal
	peers := slices.Clone(r.peers)
	r.mu.Unlock()
	for _, p := range peers { // before the handler wakes, and abandons them
		p.Cancel(false, forPeers.Reason())
	}
	r.end(cause)
	r.gates.CloseAll(cause)
}

// state reports whether the request is only waiting for its handler to end, and whether it has ended.
func (r *Request) state() (aborted, ended bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failure != nil, r.ended
}

// Progress tells how far the handler is, from 0 to 1, and what it is doing. The last one is told again at the end of
// the request.
func (r *Request) Progress(done float64, message string) {
	if math.IsNaN(done) {
		return
	}
	done, message = min(max(done, 0), 1), text(message)
	r.mu.Lock()
	r.progress, r.message = frame.Some(done), message
	r.mu.Unlock()
	if strings.TrimSpace(message) == "" {
		message = r.handler.cap.Title // a LOG has to say something
	}
	r.sendLog(frame.LogInfo{Level: []byte(frame.LevelProgress), Message: []byte(message), Progress: frame.Some(done)})
}

// Log sends a message to the requester. A level that is blank, or progress, is info, an attribution that is none
// internal, and a message that is blank is not sent.
func (r *Request) Log(level string, a frame.Attribution, message string) { r.log(level, a, message) }

func (r *Request) log(level string, a frame.Attribution, message string) {
	if level = text(level); strings.TrimSpace(level) == "" || level == frame.LevelProgress {
		level = "info"
	}
	if a == frame.NoAttribution {
		a = frame.AttributionInternal
	}
	if message = text(message); strings.TrimSpace(message) != "" {
		r.sendLog(frame.LogInfo{Level: []byte(level), Message: []byte(message), Attribution: a})
	}
}

// sendLog sends a LOG. Where that fails the request, or the connection, has ended.
func (r *Request) sendLog(l frame.LogInfo) {
	f, err := frame.NewLog(r.id, l)
	if err != nil {
		r.session.log.Warn("a LOG that cannot be made", "err", err)
		return
	}
	if r.queue(context.WithoutCancel(r.ctx), &f) == nil {
		r.session.out.Flush()
	}
}
