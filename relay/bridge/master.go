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
	// MaxFrame is the longest body that is accepted or sent, in bytes; 0 is frame.DefaultMaxFrame.
	MaxFrame int

	// OnNotify, when not nil, is called by ReadFrame and Update with what the host offers from
	// now on, at every RELAY_NOTIFY after the first. It may keep the manifest, not change it.
	OnNotify func(frame.Notify)

	// Logger gets what is dropped and lost, at level debug, with the key slave. nil discards.
	Logger *slog.Logger

	// Name is the value of that key.
	Name string
}

// A Master is the switch's end of a relay socket. All methods are safe for concurrent use but
// ReadFrame and Update, which one goroutine at a time may call.
type Master struct {
	link    io.ReadWriteCloser
	options MasterOptions
	in      *frame.Reader
	out     *frame.Writer
	offer   atomic.Pointer[frame.Notify]
	close   func() error

	order     *flow.ReorderBuffer
	frame     frame.Frame // the last one that was held
	release   bool        // held frames may be due
	err       error       // of ReadFrame, for good
	counted   Counters
	published counters
}

// Connect waits for the slave at the other end of the link to announce itself, which is the
// first frame it sends, and returns the master of it. The master takes over link:
// [Master.Close] closes it, and so does Connect when it fails. ctx is for this wait alone.
//
// It fails with [frame.ErrHandshake] when the link ends before the first frame, with
// [frame.ErrProtocol] when that is no RELAY_NOTIFY or lacks the manifest or a limit, with the
// reader's error for what is no frame, and with the context's cause when ctx ends first.
func Connect(ctx context.Context, link io.ReadWriteCloser, o *MasterOptions) (*Master, error) {
	m := &Master{link: link, close: sync.OnceValue(link.Close)}
	if o != nil {
		m.options = *o
	}
	m.options.Logger = loggerOf(m.options.Logger, m.options.Name)
	m.in = frame.NewReader(link, &frame.ReaderOptions{MaxFrame: m.options.MaxFrame, Idle: m.publish})
	m.out = frame.NewWriter(link, &frame.WriterOptions{MaxFrame: m.options.MaxFrame})
	m.order = flow.NewReorderBuffer(0, nil)

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
	offer, err := f.Notify()
	offer.Manifest = bytes.Clone(offer.Manifest)
	return offer, err
}

// Manifest returns the newest manifest of the host: JSON, not looked at. It never changes.
func (m *Master) Manifest() []byte { return m.offer.Load().Manifest }

// Limits returns the newest limits of the host.
func (m *Master) Limits() frame.Limits { return m.offer.Load().Limits }

// Stats returns what ReadFrame has returned, taken in, dropped and held so far.
func (m *Master) Stats() Counters { return m.published.load() }

// Reader returns the reader of the link, for one who handles all that comes by itself, without
// ReadFrame: control frames too (a RELAY_NOTIFY with [Master.Update]), and the order of flows.
func (m *Master) Reader() *frame.Reader { return m.in }

// Writer returns the writer of the link.
func (m *Master) Writer() *frame.Writer { return m.out }

// Update takes in what a RELAY_NOTIFY has of a manifest and of limits, each by itself. ReadFrame
// does so; this is for one who reads from [Master.Reader].
func (m *Master) Update(f *frame.Frame) {
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

// CloseWrite tells the slave that nothing more comes; what it sends can still be read. What was
// given to [Master.Writer] and not flushed is lost. A link without half-close is closed.
func (m *Master) CloseWrite() error {
	if half, ok := m.link.(halfCloser); ok {
		return half.CloseWrite()
	}
	return m.Close()
}

// Close closes the link, which ends a waiting ReadFrame, and a Send that waits for the slave to
// read. It may be called again.
func (m *Master) Close() error { return m.close() }
