package host

import (
	"context"
	"io"

	"github.com/cosim-go/cosim/relay/manifest"
)

// Attach takes in a cartridge that runs already, at the other end of conn. It returns when the cartridge has been
// greeted and checked, and fails with a *[StartError] or the cause of ctx when that does; ctx is for this alone. The host owns
// conn, also when it fails. A cartridge that was attached and ends is forgotten.
func (h *Host) Attach(ctx context.Context, conn io.ReadWriteCloser) error {
	c := &cartridge{}
	h.mu.Lock()
	if h.closed || h.stopping {
		h.mu.Unlock()
		conn.Close()
		return ErrClosed
	}
	p := h.newProcess(c)
	p.link = newAttached(conn)
	h.unlock()

	stop := context.AfterFunc(ctx, func() {
		h.mu.Lock()
		defer h.unlock()
		if p.out == nil {
			h.doom(p, &doom{kind: Stopped, silent: true, answer: environment(codeDied, "was not waited for")})
		}
	})
	p.failed = p.join(h.options.HelloLimit)
	stop()
	if p.failed == nil {
		go func() {
			p.serve()
			p.bury()
		}()
		return nil
	}
	p.bury()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return p.failed
}

// Inspect starts a cartridge once, greets and checks it, and stops it: so its manifest is known before it is registered. It
// fails with a *[StartError] or the cause of ctx. No options are the defaults.
func Inspect(ctx context.Context, provider Provider, o *Options) (*manifest.Cartridge, error) {
	h := New(o)
	h.options.Observer = nil
	c := &cartridge{provider: provider}
	h.mu.Lock()
	p := h.newProcess(c)
	h.disarm()
	h.mu.Unlock()
	defer context.AfterFunc(ctx, func() {
		h.mu.Lock()
		defer h.unlock()
		h.doom(p, stopped())
	})()
	if p.failed = p.bringUp(); p.failed == nil {
		go func() {
			p.serve()
			p.bury()
		}()
		h.Close()
		return p.manifest, nil
	}
	p.bury()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return nil, p.failed
}
