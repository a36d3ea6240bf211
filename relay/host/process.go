package host

import (
	"context"
	"time"

	"github.com/cosim-go/cosim/relay/caps"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/internal/outbox"
	"github.com/cosim-go/cosim/relay/manifest"
)

// A process is one run of a cartridge, from its start until nothing of it is left. Its goroutine starts it, reads from it,
// and handles its end. But for what belongs to that goroutine, its fields are under the host's mutex.
type process struct {
	h          *Host
	cart       *cartridge
	generation uint64
	ctx        context.Context // ends when its end is certain
	cancel     context.CancelFunc
	gone       chan struct{} // closed when nothing is left

	link   Link           // nil before it is opened
	out    *outbox.Outbox // nil before it runs
	limits frame.Limits
	pools  manifest.Pools
	table  []*caps.Cap // of its manifest
	probes map[frame.ID]*probe
	told   told
	figures
	unread    bool      // what it sends is not read now
	readSince time.Time // it is again, after it was not
	doom      *doom     // why it ends; nil when nobody wants that
	stopBy    time.Time // until when it may leave by itself, once it is stopped

	in       *frame.Reader    // this and all that follows is the goroutine's
	source   *outbox.Source   // of what it sends to the relay
	sourceOf *relay           // that source is for
	fed      []*outbox.Outbox // for Host.flush
	since    int              // bytes since what they have caused was sent
	readErr  error            // that ended reading
	failed   *StartError      // that ended its start
	manifest *manifest.Cartridge
}

// Figures are what a cartridge tells of itself in its answers to heartbeats.
type figures struct {
	footprintMB, rssMB          uint64
	drops, stragglers, overruns *uint64
}

// newProcess returns the next process of a cartridge, which has not begun.
func (h *Host) newProcess(c *cartridge) *process {
	c.generation++
	p := &process{h: h, cart: c, generation: c.generation, gone: make(chan struct{}), probes: map[frame.ID]*probe{}}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	c.process, c.phase = p, starting
	h.processes[p] = struct{}{}
	h.arm()
	return p
}

// start starts a cartridge that is idle.
func (h *Host) start(c *cartridge) {
	go h.newProcess(c).run()
}

// run is all of a process.
func (p *process) run() {
	if p.failed = p.bringUp(); p.failed == nil {
		p.serve()
	}
	p.bury()
}

// pid returns the id of the process; 0 when there is none.
func (p *process) pid() int {
	if p.link == nil {
		return 0
	}
	return p.link.PID()
}

// serve handles what the process sends, until that ends.
func (p *process) serve() {
	for {
		head, err := p.in.NextHead()
		if err != nil {
			p.readErr = err
			return
		}
		if err := p.handle(head); err != nil {
			p.h.violated(p, err)
			return
		}
		if p.source != nil && !p.source.HasRoom() {
			p.waits(true)
			p.source.Room(p.ctx) // or the relay died, or p is to end: what comes then is read all the same
			p.waits(false)
		}
	}
}

// waits takes note that what the process sends is not read, since the relay takes no more of it, or is read again.
func (p *process) waits(yes bool) {
	p.h.mu.Lock()
	defer p.h.mu.Unlock()
	p.unread, p.readSince = yes, time.Now()
}

// handle handles a frame. An error is a violation.
func (p *process) handle(head *frame.Head) error {
	h := p.h
	h.mu.Lock()
	err := p.take(head)
	if len(h.events) == 0 {
		h.mu.Unlock()
	} else {
		h.unlock()
	}
	if p.since += len(p.in.Wire()); p.since >= flushSize {
		p.idle()
	}
	return err
}

// idle sends what the frames so far have caused. It runs before the reader waits.
func (p *process) idle() error {
	p.fed, p.since = p.h.flush(p.fed), 0
	return nil
}

// body returns the body of the frame that was read last.
func (p *process) body() []byte { return p.in.Wire()[frame.PrefixSize:] }
