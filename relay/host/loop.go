package host

import (
	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
)

// A loop is what tells the two directions of a peer call apart whose handler is a cartridge of the same host. Both
// come back from the switch under the same ids: the body on its way to the handler, and the response on its way
// to the requester. But both have left through this host before, where they could be told apart.
type loop struct {
	body     map[string]struct{} // ids of the streams that the requester has begun
	response map[string]struct{} // ids of the streams that the handler has begun
	ends     []side              // which ends have left and not come back, in their order
	done     bool                // the end of the response has come back
	local    bool                // the handler is, or was, a cartridge of this host
	bodyDone bool                // the handler's request was released after the end of its body
}

// A side is what a frame of a request belongs to.
type side uint8

const (
	bodySide side = iota
	responseSide
)

// maxLoopStreams is how many streams of each direction are remembered. A request has a handful.
const maxLoopStreams = 1024

// left takes note of a flow frame on its way out.
func (l *loop) left(s side, f *frame.Frame) {
	switch {
	case f.Type.Terminal():
		l.ends = append(l.ends, s)
	case f.Type == frame.TypeStreamStart:
		streams := &l.body
		if s == responseSide {
			streams = &l.response
		}
		if *streams == nil {
			*streams = map[string]struct{}{}
		}
		if len(*streams) < maxLoopStreams {
			(*streams)[string(f.StreamID)] = struct{}{}
		}
	}
}

// leftEnd takes note of an ERR of the host's own on its way out.
func (l *loop) leftEnd(k flow.Key) {
	s := responseSide
	if k.XID.IsZero() {
		s = bodySide
	}
	l.ends = append(l.ends, s)
}

// back returns what a frame belongs to that comes back, for a request whose body has been handed over or not.
func (l *loop) back(f *frame.Frame, bodyDone bool) side {
	if f.Type.Terminal() {
		return l.endBack(bodyDone)
	}
	_, inBody := l.body[string(f.StreamID)]
	_, inResponse := l.response[string(f.StreamID)]
	if inBody && !(inResponse && bodyDone) {
		return bodySide
	}
	return responseSide
}

// endBack returns which end comes back. One that never left is made by the switch: the ERR of a request that it has ended, or
// the end of a body that it did not wait for.
func (l *loop) endBack(bodyDone bool) side {
	switch {
	case bodyDone:
		return responseSide
	case len(l.ends) > 0:
		s := l.ends[0]
		l.ends = l.ends[1:]
		return s
	case l.done:
		return bodySide
	}
	return responseSide
}
