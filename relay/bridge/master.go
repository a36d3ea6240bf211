package bridge

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math"
	"sync"
	"sync/atomic"

	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
)

// MasterOptions are the options of [Connect]. The zero value has the defaults.
type MasterOptions struct {
	// MaxFrame is the longest body that is accepted, in bytes; 0 is frame.DefaultMaxFrame.
	MaxFrame int

	// OnNotify, when not nil, is called by ReadFrame with what the host offers from now on,
	// at every RELAY_NOTIFY after the first. It may keep the manifest, not change it.
	OnNotify func(frame.Notify)

	// Logger gets what is dropped, at level debug, with the key slave. nil discards.
	Logger *slog.Logger

	// Name is the value of that key.
	Name string
}

// A Master is the switch's end of a relay socket. All methods are safe for concurrent use but
// ReadFrame, which one goroutine at a time may call.
type Master struct {
	link    io.ReadWriteCloser
	options MasterOptions
	in      *frame.Reader
	out     *frame.Writer
	order   *flow.ReorderBuffer
	offer   atomic.Pointer[frame.Notify]
	frame   frame.Frame // the last one that was held
	release bool        // held frames may be due
	err     error       // of ReadFrame, for good
	close   func() error
}

// Connect waits for the slave at the other end of the link to announce itself, which is the
// first frame it sends, and returns the master of it. The master takes over link:
// [Master.Close] closes it, and so does Connect when it fails.
//
// It fails with [frame.ErrHandshake] when the link ends before the first frame, with
// [frame.ErrProtocol] when that is no RELAY_NOTIFY or lacks the manifest or a limit, with the
// reader's error for what is no frame, and with the context's cause when ctx ends first.
func Connect(ctx context.Context, link io.ReadWriteCloser, o *MasterOptions) (*Master, error) {
	m := &Master{link: link, close: sync.OnceValue(link.Close)}
	if o != nil {
		m.options = *o
	}
	if m.options.Logger == nil {
		m.options.Logger = slog.New(slog.DiscardHandler)
	}
	m.options.Logger = m.options.Logger.With("slave", m.options.Name)
	m.in = frame.NewReader(link, &frame.ReaderOptions{MaxFrame: m.options.MaxFrame})
	m.out = frame.NewWriter(link, &frame.WriterOptions{MaxFrame: m.options.MaxFrame})

	stop := context.AfterFunc(ctx, func() { m.close() })
	offer, err := m.firstNotify()
	if !stop() {
		err = context.Cause(ctx)
	}
	if err != nil {
		m.close()
		return nil, fmt.Errorf("waiting for the slave's first frame: %w", err)
	}
	m.offer.Store(&offer)
	m.order = flow.NewReorderBuffer(int(min(offer.Limits.MaxReorderBuffer, math.MaxInt32)), nil)
	return m, nil
}

func (m *Master) firstNotify() (frame.Notify, error) {
	f, err := m.in.Next()
	if err == io.EOF {
		return frame.Notify{}, frame.Errorf(frame.ErrHandshake, "the link was closed before relay_notify")
	}
	if err != nil {
		return frame.Notify{}, err
	}
	if f.Type != frame.TypeRelayNotify {
		return frame.Notify{}, frame.Errorf(frame.ErrProtocol, "the first frame is %v, want relay_notify", f.Type)
	}
	offer, err := f.Notify()
	offer.Manifest = bytes.Clone(offer.Manifest)
	return offer, err
}

// Manifest returns the newest manifest of the host: JSON, not looked at. It never changes.
func (m *Master) Manifest() []byte { return m.offer.Load().Manifest }

// Limits returns the newest limits of the host.
func (m *Master) Limits() frame.Limits { return m.offer.Load().Limits }

// Reader returns the reader of the link, for one who handles all that comes by itself, without
// ReadFrame: control frames too, and the order of flows.
func (m *Master) Reader() *frame.Reader { return m.in }

// Writer returns the writer of the link.
func (m *Master) Writer() *frame.Writer { return m.out }

// ReadFrame returns the next frame that is for the switch, in the order of its flow. The frame
// belongs to the master and is valid until the next call. RELAY_NOTIFY frames are taken in on
// the way, RELAY_STATE frames dropped; neither is returned.
//
// At the end of the link it returns [io.EOF]. Any other error is for good and closes the link:
// the reader's, a frame against the order of its flow, or a POLICY, which only a switch may send.
func (m *Master) ReadFrame() (*frame.Frame, error) {
	if m.err != nil {
		return nil, m.err
	}
	f, err := m.readFrame()
	if err != nil {
		m.err = err
		if err != io.EOF {
			m.close()
		}
		return nil, err
	}
	return f, nil
}

func (m *Master) readFrame() (*frame.Frame, error) {
	for {
		if f, ok, err := m.held(); ok || err != nil {
			return f, err
		}
		f, err := m.in.Next()
		if err != nil {
			return nil, err
		}
		switch {
		case f.Type.Flow():
			ready, err := m.order.Accept(f.Head(), m.in.Wire())
			if err != nil {
				return nil, fmt.Errorf("%v frame %d of request %v: %w", f.Type, f.Seq, f.ID, err)
			}
			if !ready {
				continue
			}
			m.release = true
			m.delivered(f.Head())
			return f, nil
		case f.Type == frame.TypeRelayNotify:
			m.update(f)
		case f.Type == frame.TypeRelayState:
			m.options.Logger.Debug("dropped a frame", "type", f.Type.String(), "why", "from the slave")
		case f.Type == frame.TypePolicy:
			return nil, frame.Errorf(frame.ErrProtocol, "a policy frame from the slave: only the switch may send one")
		default:
			return f, nil
		}
	}
}

// held returns a held frame that is due.
func (m *Master) held() (*frame.Frame, bool, error) {
	if !m.release {
		return nil, false, nil
	}
	head, wire, ok := m.order.Release()
	if !ok {
		m.release = false
		return nil, false, nil
	}
	if err := frame.Decode(wire[frame.PrefixSize:], &m.frame); err != nil {
		return nil, false, err
	}
	m.delivered(head)
	return &m.frame, true, nil
}

// delivered forgets a flow whose end was returned.
func (m *Master) delivered(head frame.Head) {
	if head.Type.Terminal() {
		m.order.Cleanup(flow.KeyOf(head))
	}
}

// update takes in what a RELAY_NOTIFY has of a manifest and of limits, each by itself.
func (m *Master) update(f *frame.Frame) {
	offer := *m.offer.Load()
	if manifest, ok := f.Manifest(); ok {
		offer.Manifest = bytes.Clone(manifest)
	}
	if limits, err := f.NotifyLimits(); err == nil {
		offer.Limits = limits
	}
	m.offer.Store(&offer)
	if m.options.OnNotify != nil {
		m.options.OnNotify(offer)
	}
}

// Send writes a frame as it is: numbering is the caller's. It returns when the frame is on the
// stream.
func (m *Master) Send(f *frame.Frame) error {
	if err := m.out.Write(f); err != nil {
		return err
	}
	return m.out.Flush()
}

// SendState writes a RELAY_STATE with that payload, which is not looked at. The slave keeps it.
func (m *Master) SendState(payload []byte) error {
	f := frame.NewRelayState(payload)
	return m.Send(&f)
}

// SendPolicy writes a POLICY, which goes to the host.
func (m *Master) SendPolicy(meta frame.Meta, payload []byte) error {
	f := frame.NewPolicy(payload)
	f.Meta = meta
	return m.Send(&f)
}

// CloseWrite tells the slave that nothing more comes; what it sends can still be read. A link
// without half-close is closed.
func (m *Master) CloseWrite() error {
	if half, ok := m.link.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return m.Close()
}

// Close closes the link, which ends a waiting ReadFrame. It may be called again.
func (m *Master) Close() error { return m.close() }

