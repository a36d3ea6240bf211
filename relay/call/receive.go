package call

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/internal/stream"
)

// maxStreams is how many streams a response may have. It bounds what a bad handler makes a requester remember.
const maxStreams = 1024

// A response is a stream of the response.
type response struct {
	id      []byte
	credit  stream.Credit
	arrived uint64 // CHUNKs that the link announced
	taken   uint64 // CHUNKs that were read
	ended   bool   // guarded by Call.mu

	stream *Stream // nil before its STREAM_START was read
	in     *stream.In
}

// Next returns the next event of the response and waits for it. With the call of Next the event before counts as
// consumed: its sender gets new credit.
//
// After an END that says success Next fails with io.EOF, after another END or an ERR with an [*Error]. A response
// that breaks the rules is an *Error too, PROTOCOL_ERROR or CREDIT_VIOLATION, and is cancelled. When reading an
// argument failed it is an error that wraps that. All these are for good. When ctx ends Next fails with its cause,
// and can be called again.
func (c *Call) Next(ctx context.Context) (Event, error) {
	if c.err != nil {
		return Event{}, c.err
	}
	c.consume()
	for {
		if err := c.failed(); err != nil {
			return Event{}, c.stop(err)
		}
		f, ok := c.link.TryNext()
		if !ok {
			c.flush()
			var err error
			if f, err = c.link.Next(ctx); err != nil {
				return Event{}, c.lost(ctx, err)
			}
		}
		e, whole, err := c.take(f)
		switch {
		case err != nil:
			return Event{}, err
		case whole:
			return e, nil
		}
	}
}

// lost makes the error of a link that has no more frames.
func (c *Call) lost(ctx context.Context, err error) error {
	if ctx.Err() != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if failure := c.failed(); failure != nil {
		return c.stop(failure)
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return c.stop(fmt.Errorf("reading the response: %w", err))
}

// stop ends the call with an error that stays.
func (c *Call) stop(err error) error {
	c.err = err
	c.finish(ErrEnded)
	return err
}

// reject ends a request whose response breaks the rules.
func (c *Call) reject(err error) error {
	e := &Error{CodeProtocolError, frame.AttributionInternal, err.Error(), ""}
	c.Cancel(false, &Cancelled{e.Code, e.Attribution, e.Message})
	return c.stop(e)
}

// take makes an event of a frame, if it is one. Its error is for good.
func (c *Call) take(f *frame.Frame) (e Event, whole bool, err error) {
	switch f.Type {
	case frame.TypeStreamStart:
		e, err = c.takeStart(f)
		whole = true
	case frame.TypeChunk:
		e, whole, err = c.takeChunk(f)
	case frame.TypeStreamEnd:
		e, err = c.takeEnd(f)
		whole = true
	case frame.TypeLog:
		e, err = takeLog(f)
		whole = true
	case frame.TypeEnd:
		return Event{}, false, c.stop(c.outcome(f))
	case frame.TypeErr:
		return Event{}, false, c.stop(c.refused(f))
	default:
		err = unexpected("a %v in a response", f.Type)
	}
	switch failure := c.failed(); {
	case err == nil:
		return e, whole, nil
	case failure != nil:
		return Event{}, false, c.stop(failure)
	}
	return Event{}, false, c.reject(err)
}

func (c *Call) takeStart(f *frame.Frame) (Event, error) {
	c.mu.Lock()
	r := c.response(f.StreamID)
	c.mu.Unlock()
	switch {
	case f.StreamID == nil:
		return Event{}, unexpected("a stream without an id")
	case r == nil:
		return Event{}, unexpected("more than %d streams", maxStreams)
	case r.stream != nil:
		return Event{}, unexpected("stream %q begins twice", f.StreamID)
	}
	r.stream = &Stream{
		ID: string(f.StreamID), Media: string(f.MediaURN),
		Sequence: f.IsSequence, Unbounded: f.Unbounded.Or(false), Meta: f.Meta.Clone(),
	}
	r.in = stream.NewIn(f, 0)
	c.open++
	if err := r.credit.Limit(c.link.Limits().InitialCredit); err != nil {
		c.refuseOverrun()
		return Event{}, err
	}
	return Event{Kind: EventStart, Stream: r.stream}, nil
}

// known returns the stream of a frame, which has begun and not ended.
func (c *Call) known(f *frame.Frame) (*response, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.responses {
		if !bytes.Equal(r.id, f.StreamID) || r.stream == nil {
			continue
		}
		if r.ended {
			return nil, unexpected("a %v of stream %q after its end", f.Type, f.StreamID)
		}
		return r, nil
	}
	return nil, unexpected("a %v of stream %q, which has not begun", f.Type, f.StreamID)
}

func (c *Call) takeChunk(f *frame.Frame) (e Event, whole bool, err error) {
	r, err := c.known(f)
	if err != nil {
		return Event{}, false, err
	}
	if err := c.announced(r); err != nil {
		c.refuseOverrun()
		return Event{}, false, err
	}
	p, err := r.in.Chunk(f)
	if err != nil {
		return Event{}, false, err
	}
	if r.in.Continued() {
		c.grant(r, r.credit.Continue())
	}
	if !p.Whole {
		if !r.in.Continued() {
			r.credit.Gather()
		}
		return Event{}, false, nil
	}
	if r.credit.Whole() {
		c.held = r
	}
	if p.Value {
		return Event{Kind: EventItem, Stream: r.stream, Item: p.Item}, true, nil
	}
	return Event{Kind: EventData, Stream: r.stream, Data: p.Data}, true, nil
}

// announced makes sure that a CHUNK counts as arrived, also when the link does not tell.
func (c *Call) announced(r *response) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.taken++; r.taken <= r.arrived {
		return nil
	}
	r.arrived++
	return r.credit.Arrive()
}

func (c *Call) takeEnd(f *frame.Frame) (Event, error) {
	r, err := c.known(f)
	if err != nil {
		return Event{}, err
	}
	if err := r.in.End(f); err != nil {
		return Event{}, err
	}
	c.mu.Lock()
	r.ended = true
	c.mu.Unlock()
	c.open--
	return Event{Kind: EventEnd, Stream: r.stream}, nil
}

func takeLog(f *frame.Frame) (Event, error) {
	l, err := f.LogInfo()
	if err != nil {
		return Event{}, err
	}
	e := Event{Kind: EventLog, Log: Log{string(l.Level), string(l.Message), l.Attribution, string(l.ArgURN)}}
	if p, ok := l.Progress.Get(); ok {
		e.Kind, e.Progress = EventProgress, p
	}
	return e, nil
}

// outcome returns the error that an END stands for: io.EOF for success.
func (c *Call) outcome(f *frame.Frame) error {
	c.info = f.EndInfo()
	c.info.Message = bytes.Clone(c.info.Message)
	if failure := c.failed(); failure != nil {
		return failure
	}
	if c.info.Succeeded() && c.open == 0 {
		return io.EOF
	}
	e := &Error{Code: CodeProtocolError, Attribution: frame.AttributionInternal}
	exit, ok := c.info.ExitCode.Get()
	switch {
	case c.info.Succeeded():
		e.Message = fmt.Sprintf("the response ended with %d streams open", c.open)
		return e
	case !ok:
		e.Message = "the response ended without an exit code"
	default:
		e.Code, e.Message = CodeHandlerError, fmt.Sprintf("the handler ended with exit code %d", exit)
	}
	if len(c.info.Message) > 0 {
		e.Message += ": " + string(c.info.Message)
	}
	return e
}

// refused returns the error that an ERR says.
func (c *Call) refused(f *frame.Frame) error {
	if failure := c.failed(); failure != nil {
		return failure
	}
	i, err := f.ErrInfo()
	e := &Error{string(i.Code), i.Attribution, string(i.Message), string(i.ArgURN)}
	if err != nil {
		return &Error{CodeProtocolError, frame.AttributionInternal, fmt.Sprintf("%v (code %q: %s)", err, e.Code, e.Message), ""}
	}
	return e
}
