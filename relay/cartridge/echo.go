package cartridge

import (
	"context"
	"io"

	"github.com/cosim-go/cosim/relay/frame"
)

// echo is the handler of identity: it sends each argument back as it came, CHUNK for CHUNK.
func echo(ctx context.Context, r *Request) error {
	for in, err := range r.Args() {
		if err != nil {
			return err
		}
		if err := in.echo(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (in *Input) echo(ctx context.Context) error {
	id := frame.NewUUID().String()
	start := frame.NewStreamStart(in.request.id, []byte(id), []byte(in.media))
	start.IsSequence, start.Meta = in.sequence, in.meta
	if in.unbounded {
		start.Unbounded = frame.Some(true)
	}
	out := in.request.output(id, start, &OutputOptions{Sequence: in.sequence.Or(false)})
	out.mu.Lock()
	defer out.mu.Unlock()
	for {
		f, err := in.frame()
		switch {
		case err == io.EOF:
			out.err = errOutputClosed
			in.request.gates.Forget(id)
			return out.out.End(ctx)
		case err != nil:
			return err
		}
		if err := in.in.Verify(f); err != nil {
			return in.violated(err)
		}
		in.held = true
		if err := out.sent(out.out.Repeat(ctx, f)); err != nil {
			return err
		}
	}
}
