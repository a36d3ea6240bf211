package gateway

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/internal/inbox"
	"github.com/cosim-go/cosim/relay/stats"
)

// A link is a request of a client.
type link struct {
	c        *Client
	id       frame.ID
	onCredit func(*frame.Frame)
	onChunk  func(*frame.Frame)
	in       *inbox.Inbox
	limits   frame.Limits  // set before admitted is closed
	admitted chan struct{} // closed when the request is admitted
	refused  chan struct{} // closed when it ends

	admit, refuse sync.Once // close the two
	last          bool      // Next returned the end
}

// Open makes a request, and waits until it is admitted to a cartridge. It fails with a [call.Error] when the switch
// does not take it or the connection is lost, with [frame.ErrEncode] or [frame.ErrFrameTooLarge] for what makes no
// REQ, and with the cause of ctx, after which the request is given up.
func (c *Client) Open(ctx context.Context, r call.Request) (call.Link, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	req, err := reqOf(&r)
	if err != nil {
		return nil, err
	}
	l := &link{
		c: c, id: req.ID, onCredit: r.OnCredit, onChunk: r.OnChunk, in: inbox.New(0),
		admitted: make(chan struct{}), refused: make(chan struct{}),
	}
	if err := c.begin(l, &req); err != nil {
		return nil, err
	}
	select {
	case <-l.admitted:
	case <-l.refused:
	case <-ctx.Done():
		l.abandon(call.CancelCause(ctx))
		return nil, context.Cause(ctx)
	}
	select {
	case <-l.admitted: // it may have ended since
		return l, nil
	default:
		return nil, l.refusal()
	}
}

// reqOf returns the REQ of a request.
func reqOf(r *call.Request) (frame.Frame, error) {
	id := r.ID
	if id.IsZero() {
		id = frame.NewUUID()
	}
	f := frame.NewReq(id, []byte(r.Cap))
	f.ContentType = []byte(r.ContentType)
	if r.ContentType == "" {
		f.ContentType = []byte(call.DefaultContentType)
	}
	f.Meta = r.Meta
	if r.Preferred == "" && r.Cartridge == "" && r.Parent.IsZero() {
		return f, nil
	}
	var b frame.MetaBuilder
	for name, value := range r.Meta.All() {
		b.Raw(string(name), value.Raw())
	}
	info := frame.ReqInfo{ParentRID: r.Parent}
	if r.Cartridge != "" {
		info.TargetCartridge = []byte(r.Cartridge)
	}
	info.Put(&b)
	if r.Preferred != "" {
		b.Text(metaPreferred, r.Preferred)
	}
	var err error
	f.Meta, err = b.Meta()
	return f, err
}

// begin puts a request into the table and sends its REQ.
func (c *Client) begin(l *link, req *frame.Frame) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.over != nil:
		return c.over
	case c.links[l.id] != nil:
		return frame.Errorf(frame.ErrProtocol, "request %s runs already", l.id)
	}
	if err := c.out.Send(req); err != nil {
		return c.sendError(err)
	}
	c.links[l.id] = l
	c.out.Flush()
	return nil
}

// sendError returns what becomes of a frame that was not sent.
func (c *Client) sendError(err error) error {
	if kind := frame.KindOf(err); kind == frame.ErrEncode || kind == frame.ErrFrameTooLarge {
		return err
	}
	return &call.Error{Code: CodeConnectionLost, Attribution: frame.AttributionEnvironment, Message: err.Error()}
}

// take takes a frame from the connection.
func (l *link) take(f *frame.Frame, body []byte) {
	if limits, ok := admitted(f); ok {
		l.admit.Do(func() {
			l.limits = l.c.limits
			l.limits.MaxChunk = min(l.limits.MaxChunk, limits.MaxChunk)
			l.limits.InitialCredit = limits.InitialCredit
			close(l.admitted)
		})
		return
	}
	switch f.Type {
	case frame.TypeCredit:
		if l.onCredit != nil {
			l.onCredit(f)
		}
		return
	case frame.TypeChunk:
		if l.onChunk != nil {
			l.onChunk(f)
		}
	}
	if err := l.in.Put(body); errors.Is(err, inbox.ErrFull) {
		l.c.lost.Drop(stats.ChannelClosed, f.Type)
		l.abandon(errUnread)
		return
	}
	if f.Type.Terminal() {
		l.end(io.EOF)
	}
}

var errUnread = &call.Cancelled{Code: call.CodeAborted, Attribution: frame.AttributionResource, Message: "the response is not read"}

// end ends the link for a reason, io.EOF after the end of the response.
func (l *link) end(reason error) {
	l.in.Close(reason)
	l.refuse.Do(func() { close(l.refused) })
}

// abandon gives up a request that runs, and cancels it for a reason.
func (l *link) abandon(reason *call.Cancelled) {
	l.c.mu.Lock()
	runs := l.c.links[l.id] == l
	l.c.forget(l)
	l.c.mu.Unlock()
	if runs {
		l.sendCancel(false, reason.Reason())
	}
	l.end(reason.Terminal())
}

// refusal returns the error that a request ended with before it was admitted.
func (l *link) refusal() error {
	for {
		f, err := l.Next(context.Background())
		switch {
		case err == io.EOF:
			return &call.Error{Code: call.CodeProtocolError, Attribution: frame.AttributionInternal, Message: "the response came before the request was admitted"}
		case err != nil:
			return err
		case f.Type == frame.TypeErr:
			return errorOf(f)
		} // else it is what is said of a request that waits
	}
}

// errorOf returns the error that an ERR says.
func errorOf(f *frame.Frame) error {
	info, err := f.ErrInfo()
	if err != nil {
		return &call.Error{Code: call.CodeProtocolError, Attribution: frame.AttributionInternal, Message: err.Error()}
	}
	return &call.Error{Code: string(info.Code), Attribution: info.Attribution, Message: string(info.Message), ArgURN: string(info.ArgURN)}
}

func (l *link) ID() frame.ID         { return l.id }
func (l *link) Limits() frame.Limits { return l.limits }

func (l *link) Send(ctx context.Context, f *frame.Frame) error {
	if err := l.Queue(ctx, f); err != nil {
		return err
	}
	l.Flush()
	return nil
}

func (l *link) Queue(ctx context.Context, f *frame.Frame) error {
	if l.c.out.Full() && l.c.out.Room(ctx) != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	f.ID, f.RoutingID = l.id, frame.ID{}
	l.c.mu.Lock()
	defer l.c.mu.Unlock()
	if l.c.links[l.id] != l {
		return call.ErrEnded
	}
	err := l.c.out.Send(f)
	if kind := frame.KindOf(err); err != nil && kind != frame.ErrEncode && kind != frame.ErrFrameTooLarge {
		return call.ErrEnded
	}
	return err
}

func (l *link) Flush() { l.c.out.Flush() }

func (l *link) Next(ctx context.Context) (*frame.Frame, error) {
	if l.last {
		return nil, io.EOF
	}
	f, err := l.in.Next(ctx)
	var failed *call.Error
	if errors.As(err, &failed) && ctx.Err() == nil {
		f, err = errFrame(l.id, failed), nil
	}
	l.last = err == nil && f.Type.Terminal()
	return f, err
}

func (l *link) TryNext() (*frame.Frame, bool) {
	f, ok := l.in.TryNext()
	l.last = l.last || ok && f.Type.Terminal()
	return f, ok
}

func (l *link) Cancel(force bool, r frame.CancelReason) error {
	l.c.mu.Lock()
	runs := l.c.links[l.id] == l
	l.c.mu.Unlock()
	if !runs {
		return nil
	}
	return l.sendCancel(force, r)
}

func (l *link) sendCancel(force bool, r frame.CancelReason) error {
	f, err := frame.NewCancel(l.id, force, r)
	if err != nil { // a text that is not UTF-8
		f, _ = frame.NewCancel(l.id, force, frame.CancelReason{Attribution: r.Attribution})
	}
	if err := l.c.out.Send(&f); err != nil {
		return l.c.sendError(err)
	}
	l.c.out.Flush()
	return nil
}

func (l *link) Drop(r stats.Reason, t frame.Type) { l.c.lost.Drop(r, t) }

func (l *link) Close() error {
	l.abandon(&call.Cancelled{Code: call.CodeAborted, Attribution: frame.AttributionInternal, Message: "nobody waits for the response"})
	l.in.Drop()
	return nil
}

var _ call.Batcher = (*link)(nil)
