package call

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
)

// defaultCollected is how much Collect takes, in bytes.
const defaultCollected = 64 << 20

// itemCost is what a stream or an item counts in the limit, beside its bytes.
const itemCost = 128

// Collect reads the response to its end and returns its streams, at most 64 MiB in all. It fails as Next does, for
// a stream that is unbounded with [flow.ErrUnbounded], and for a response that is too long with [flow.ErrTooLong];
// these two cancel the request.
func (c *Call) Collect(ctx context.Context) ([]Output, error) { return c.CollectMax(ctx, 0) }

// CollectMax is Collect with a limit of max bytes, of which each item takes 128 beside its own; 0 and less is 64 MiB.
func (c *Call) CollectMax(ctx context.Context, max int) ([]Output, error) {
	if max <= 0 {
		max = defaultCollected
	}
	collected := collection{left: max}
	for {
		e, err := c.Next(ctx)
		if err == io.EOF {
			return collected.outputs, nil
		}
		if err != nil {
			return nil, err
		}
		if err := collected.add(&e); err != nil {
			c.Cancel(false, &Cancelled{CodeAborted, frame.AttributionInternal, err.Error()})
			return nil, c.stop(err)
		}
	}
}

// A collection is what was collected.
type collection struct {
	outputs []Output
	left    int // bytes
}

func (s *collection) add(e *Event) error {
	switch e.Kind {
	case EventStart:
		if e.Stream.Unbounded {
			return fmt.Errorf("stream %q: %w", e.Stream.ID, flow.ErrUnbounded)
		}
		s.outputs = append(s.outputs, Output{Stream: *e.Stream})
		return s.took(itemCost + len(e.Stream.Meta.Raw()))
	case EventData:
		if err := s.took(len(e.Data)); err != nil {
			return err
		}
		o := s.output(e.Stream)
		o.Data = append(o.Data, e.Data...)
	case EventItem:
		if err := s.took(itemCost + len(e.Item.CBOR) + len(e.Item.Meta.Raw())); err != nil {
			return err
		}
		o := s.output(e.Stream)
		o.Items = append(o.Items, Item{CBOR: slices.Clone(e.Item.CBOR), Meta: e.Item.Meta.Clone()})
	}
	return nil
}

func (s *collection) took(n int) error {
	if s.left -= n; s.left < 0 {
		return fmt.Errorf("collecting the response: %w", flow.ErrTooLong)
	}
	return nil
}

// output returns the output of a stream, which is there.
func (s *collection) output(of *Stream) *Output {
	for i := len(s.outputs) - 1; ; i-- {
		if s.outputs[i].ID == of.ID {
			return &s.outputs[i]
		}
	}
}

var errStreams = errors.New("the response has several streams")

// Do sends arguments to a cap and returns the bytes of the response, which has to be of one stream; the items of
// a sequence come one behind the other. See [Call.Collect] for the limit.
func Do(ctx context.Context, o Opener, cap string, args ...Arg) ([]byte, error) {
	c, err := Start(ctx, o, Request{Cap: cap}, args...)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	outputs, err := c.Collect(ctx)
	switch {
	case err != nil:
		return nil, err
	case len(outputs) == 0:
		return nil, nil
	case len(outputs) > 1:
		return nil, errStreams
	}
	data := outputs[0].Data
	for _, item := range outputs[0].Items {
		data = append(data, item.CBOR...)
	}
	return data, nil
}
