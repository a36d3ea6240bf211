package route

import (
	"context"
	"io"

	"github.com/cosim-go/cosim/relay/bridge"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/internal/outbox"
	"github.com/cosim-go/cosim/relay/manifest"
)

// A link is one connection of a master, from its first RELAY_NOTIFY to its end. A master that is lost and
// comes back has another one; whatever belongs to a link is recognised by its pointer.
type link struct {
	id     string
	in     *frame.Reader
	out    *outbox.Outbox
	close  func() error       // of the socket; may be called again
	stop   context.CancelFunc // ends the reader's waits
	joined chan struct{}      // closed once frames are to be handled

	follow  manifest.Follower // the reader's alone
	refused bool              // the reader's: the last manifest was not taken, though it could be read

	// All below is guarded by Switch.mu.
	master *master // nil until it is installed
	offer  offer
	check  *check // under way before it is installed
	dead   error  // why it is over
}

// An offer is what a host announced last.
type offer struct {
	inventory *manifest.Inventory
	limits    frame.Limits
}

// connect waits for the host at the other end of a socket to announce itself, and returns the link. It takes over
// conn, also when it fails.
func (s *Switch) connect(ctx context.Context, id string, conn io.ReadWriteCloser) (*link, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.options.IdentityLimit, errSilent)
	defer cancel()
	b, err := bridge.Connect(ctx, conn, &bridge.MasterOptions{Logger: s.log, Name: id})
	if err != nil {
		return nil, err
	}
	l := &link{id: id, in: b.Reader(), close: b.Close, joined: make(chan struct{})}
	l.offer.limits = b.Limits()
	if l.offer.inventory, _, err = l.readManifest(b.Manifest(), s.options.AllowEmptyHosts); err != nil {
		b.Close()
		return nil, err
	}
	l.out = outbox.New(conn, &outbox.Options{
		Number:    true,
		Manual:    true, // or it would write with mu held
		MaxFrame:  l.offer.maxFrame(),
		MaxQueued: s.options.MaxQueued,
		Failed:    func(err error) { s.lost(l, err) },
	})
	return l, nil
}

var errSilent = frame.Errorf(frame.ErrHandshake, "the host did not announce itself in time")

// maxFrame returns how long a frame to the host may be, in bytes of its body: no more than the default, with
// which both ends of a relay socket read.
func (o *offer) maxFrame() int { return min(frame.DefaultMaxFrame, o.limits.FrameLimit()) }

// read is the link's reader: it handles every frame that the host sends, until the link is over. With checking,
// frames are part of an identity check at first.
func (s *Switch) read(ctx context.Context, l *link, checking bool) {
	defer l.out.Close()
	if !checking && !l.awaitJoin(ctx) {
		return
	}
	t := &turn{}
	for {
		if !l.in.Buffered() {
			t.flush()
		}
		f, err := l.in.Next()
		if err == nil && checking {
			var v verdict
			v, err = s.checking(l, f)
			if v != checkGoesOn && err == nil {
				checking = false
				if !l.awaitJoin(ctx) {
					return
				}
			}
			if v != checkOver && err == nil {
				continue
			}
		}
		if err == nil {
			err = s.handle(ctx, t, l, f)
		}
		if err != nil {
			t.flush()
			s.lost(l, err)
			return
		}
	}
}

// awaitJoin waits until the master is installed, and returns false when it never will be.
func (l *link) awaitJoin(ctx context.Context) bool {
	select {
	case <-l.joined:
		return true
	case <-ctx.Done():
		return false
	}
}

// send writes a frame of the switch's own. mu is held.
func (l *link) send(t *turn, f *frame.Frame) error {
	t.feed(l)
	return l.out.Send(f)
}
