package cartridge

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/internal/inbox"
	"github.com/cosim-go/cosim/relay/stats"
)

// maxInputs is how many streams a body may have. It bounds what a bad requester makes a cartridge remember.
const maxInputs = 1024

// take takes a frame of the body; raw is what it was decoded from. It is called by who reads the connection, and never
// waits.
func (r *Request) take(f *frame.Frame, raw []byte) {
	switch aborted, ended := r.state(); {
	case ended:
		r.session.counters.Straggler(f.Type)
		return
	case aborted:
		r.session.counters.Drop(stats.Cancelled, f.Type)
		return
	}
	var err error
	switch f.Type {
	case frame.TypeStreamStart:
		err = r.takeStart(f)
	case frame.TypeChunk:
		err = r.takeChunk(f, raw)
	case frame.TypeStreamEnd:
		err = r.takeStreamEnd(f, raw)
	case frame.TypeEnd:
		err = r.takeEnd(io.EOF)
	case frame.TypeErr:
		err = r.takeEnd(bodyError(f))
	}
	if err != nil {
		r.fail(&Error{Code: call.CodeProtocolError, Attribution: frame.AttributionInternal, Message: err.Error()})
	}
}

// bodyError returns the error that the requester gave up its body with.
func bodyError(f *frame.Frame) error {
	i, err := f.ErrInfo()
	if err != nil {
		return &Error{Code: call.CodeProtocolError, Attribution: frame.AttributionInternal, Message: err.Error()}
	}
	return &Error{
		Code: string(i.Code), Attribution: i.Attribution, Message: string(i.Message), ArgURN: string(i.ArgURN),
	}
}

func (r *Request) takeStart(f *frame.Frame) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case f.StreamID == nil:
		return errors.New("a stream without an id")
	case r.body != nil:
		return fmt.Errorf("stream %q begins after the end of the body", f.StreamID)
	case len(r.inputs) == maxInputs:
		return fmt.Errorf("more than %d arguments", maxInputs)
	}
	for _, in := range r.inputs {
		if in.id == string(f.StreamID) {
			return fmt.Errorf("stream %q begins twice", f.StreamID)
		}
	}
	in := newInput(r, f)
	if r.isClosing {
		in.askToClose()
	}
	r.inputs = append(r.inputs, in)
	r.stir()
	return nil
}

// live returns the input of a frame, which has begun and not ended.
func (r *Request) live(f *frame.Frame) (*Input, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := len(r.inputs) - 1; i >= 0; i-- {
		in := r.inputs[i]
		if !bytes.Equal(in.streamID, f.StreamID) {
			continue
		}
		if in.complete || r.body != nil {
			return nil, fmt.Errorf("a %v of stream %q after its end", f.Type, f.StreamID)
		}
		return in, nil
	}
	return nil, fmt.Errorf("a %v of stream %q, which has not begun", f.Type, f.StreamID)
}

func (r *Request) takeChunk(f *frame.Frame, raw []byte) error {
	in, err := r.live(f)
	if err != nil {
		return err
	}
	if in.credit.Arrive() != nil {
		r.session.counters.Drop(stats.CreditViolation, f.Type)
		r.fail(&Error{Code: call.CodeCreditViolation, Attribution: frame.AttributionInternal,
			Message: fmt.Sprintf("a chunk of argument %q came beyond its credit", f.StreamID)})
		return nil
	}
	return in.put(raw)
}

func (r *Request) takeStreamEnd(f *frame.Frame, raw []byte) error {
	in, err := r.live(f)
	if err != nil {
		return err
	}
	r.mu.Lock()
	in.complete = true
	r.mu.Unlock()
	return in.put(raw)
}

// takeEnd takes the end of the body, for a reason.
func (r *Request) takeEnd(reason error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.body != nil {
		return errors.New("the body ends twice")
	}
	r.body = reason
	r.stir()
	for _, in := range r.inputs {
		if in.complete {
			continue
		}
		if reason == io.EOF {
			return fmt.Errorf("the body ends within stream %q", in.streamID)
		}
		in.box.Close(reason)
	}
	return nil
}

// put queues a frame of the input. What has been closed is credited at once.
func (in *Input) put(raw []byte) error {
	switch err := in.box.Put(raw); {
	case errors.Is(err, inbox.ErrClosed):
		in.grant(in.credit.Drain())
		return nil
	default:
		return err
	}
}
