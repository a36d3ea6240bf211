package gateway

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/internal/outbox"
	"github.com/cosim-go/cosim/relay/stats"
)

// CodeConnectionLost is the code of the error that requests of a [Client] end with when its connection does.
const CodeConnectionLost = "CONNECTION_LOST"

// A Client is a caller's end of a connection to a gateway. It is safe for concurrent use.
type Client struct {
	in     *frames
	out    *outbox.Outbox
	limits frame.Limits
	lost   stats.Counters
	ended  sync.WaitGroup

	mu    sync.Mutex
	links map[frame.ID]*link // of requests that run
	over  error              // why no more can be made
	late  *stats.Ended
}

// Dial connects to the gateway that listens on a Unix socket. ctx is for this alone. The caller closes the client.
func Dial(ctx context.Context, path string) (*Client, error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	return NewClient(ctx, conn)
}

// NewClient returns the client of a connection to a gateway, which it takes over, also when it fails. Closing conn has to
// end a waiting Read and Write. ctx is for the exchange of the HELLO frames alone.
//
// It fails with [frame.ErrHandshake] when what is at the other end is no gateway or no longer there, with the
// reader's error for what is no frame, and with the cause of ctx.
func NewClient(ctx context.Context, conn io.ReadWriteCloser) (*Client, error) {
	c := &Client{links: map[frame.ID]*link{}, late: stats.NewEnded(nil)}
	c.out = outbox.New(conn, &outbox.Options{Number: true, MaxQueued: clientQueue})
	stop := context.AfterFunc(ctx, func() { c.out.Close() })
	err := c.hello(frame.NewReader(conn, nil))
	if !stop() {
		err = context.Cause(ctx)
	}
	if err != nil {
		c.out.Close()
		return nil, err
	}
	c.ended.Go(func() { c.fail(c.read()) })
	return c, nil
}

// clientQueue is how many bytes wait for the connection before those who send have to.
const clientQueue = 4 << 20

// hello exchanges the HELLO frames.
func (c *Client) hello(in *frame.Reader) error {
	own := frame.DefaultLimits()
	f, err := frame.NewHello(frame.Hello{Limits: own, HandlerCapacity: frame.Some[uint64](0)})
	if err != nil {
		return err
	}
	if err := c.out.Send(&f); err != nil {
		return err
	}
	c.out.Flush()
	answer, err := in.Next()
	if err == io.EOF {
		return frame.Errorf(frame.ErrHandshake, "the connection was closed before hello")
	}
	if err != nil {
		return err
	}
	hello, err := answer.Hello()
	if err != nil {
		return err
	}
	c.limits = own.Min(hello.Limits)
	c.in = newFrames(in, c.limits)
	c.out.SetMaxFrame(c.limits.FrameLimit())
	return nil
}

// read takes what comes until the connection ends, and returns why it did.
func (c *Client) read() error {
	for {
		f, body, err := c.in.next()
		if err == io.EOF {
			return errors.New("the connection to the switch was closed")
		}
		if err != nil {
			return err
		}
		if !c.take(f, body) {
			return frame.Errorf(frame.ErrProtocol, "a %s frame from a gateway", f.Type)
		}
	}
}

// take handles a frame. It returns false for one that a gateway does not send.
func (c *Client) take(f *frame.Frame, body []byte) bool {
	switch f.Type {
	case frame.TypeStreamStart, frame.TypeChunk, frame.TypeStreamEnd, frame.TypeEnd, frame.TypeErr, frame.TypeLog, frame.TypeCredit:
	default:
		return false
	}
	c.mu.Lock()
	l := c.links[f.ID]
	recent := l == nil && c.late.Recent(f.ID)
	if l != nil && f.Type.Terminal() {
		c.forget(l)
	}
	c.mu.Unlock()
	switch {
	case l != nil:
		l.take(f, body)
	case recent:
		c.lost.Straggler(f.Type)
	default:
		c.lost.Drop(stats.NoRoute, f.Type)
	}
	return true
}

// forget takes a request out of the table: nothing of its body is sent any more. mu is held.
func (c *Client) forget(l *link) {
	if c.links[l.id] == l {
		delete(c.links, l.id)
		c.late.Add(l.id)
		c.out.Forget(flow.Key{RID: l.id})
	}
}

// fail ends all requests, and lets no more be made.
func (c *Client) fail(err error) {
	c.mu.Lock()
	c.over = &call.Error{Code: CodeConnectionLost, Attribution: frame.AttributionEnvironment, Message: err.Error()}
	all := c.links
	c.links = map[frame.ID]*link{}
	c.mu.Unlock()
	for _, l := range all {
		l.end(c.over)
	}
	c.out.Close()
}

// closePatience is how long what was sent may take to be written when a client is closed.
const closePatience = time.Second

// Close closes the connection. Requests that run are abandoned, and end with CONNECTION_LOST here. It may be called twice.
func (c *Client) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closePatience)
	defer cancel()
	c.out.Finish(ctx)
	c.ended.Wait()
	return nil
}

// Limits returns what was agreed on with the gateway.
func (c *Client) Limits() frame.Limits { return c.limits }

// Stats returns which frames of the gateway's were lost, because nobody was there to take them.
func (c *Client) Stats() (stats.Drops, stats.Stragglers) { return c.lost.Drops(), c.lost.Stragglers() }

// Status asks how the switch is, and returns a [Status] as JSON.
func (c *Client) Status(ctx context.Context) ([]byte, error) { return call.Do(ctx, c, StatusCap) }
