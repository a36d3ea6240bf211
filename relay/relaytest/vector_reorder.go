package relaytest

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
)

// refusals are the errors of a reorder buffer by the names that vectors have for them.
var refusals = map[string]error{
	"stale":     flow.ErrStale,
	"duplicate": flow.ErrDuplicate,
	"overflow":  flow.ErrOverflow,
}

// checkScript runs the steps of a script up to the first that fails.
func checkScript(c *vectorCase, _ []any) {
	c.knows("name", "max_buffer_per_flow", "steps")
	c.text("name")
	most, steps := c.number("max_buffer_per_flow"), c.list("steps")
	switch {
	case most > math.MaxInt32:
		c.fail("max_buffer_per_flow is no limit of a buffer: %d", most)
	case c.has("steps") && len(steps) == 0:
		c.fail("no steps")
	}
	if len(c.failures) > 0 {
		return
	}
	buffer := flow.NewReorderBuffer(int(most), nil)
	for i, v := range steps {
		step := &vectorCase{}
		if o, ok := v.(*jsonObject); ok {
			step.open(o)
			step.step(buffer)
		} else {
			step.fail("no object")
		}
		for _, failure := range step.failures {
			c.fail("step %d: %s", i, failure)
		}
		if len(step.failures) > 0 {
			return
		}
	}
}

func (c *vectorCase) step(buffer *flow.ReorderBuffer) {
	switch op := c.text("op"); op {
	case "accept":
		c.accept(buffer)
	case "cleanup":
		c.knows("op", "rid", "xid")
		if key := c.flowKey(); len(c.failures) == 0 {
			buffer.Cleanup(key)
		}
	default:
		if c.has("op") {
			c.fail("unknown op %q", op)
		}
	}
}

// flowKey returns the flow of a step, whose ids are numbers.
func (c *vectorCase) flowKey() flow.Key {
	key := flow.Key{RID: frame.Number(c.number("rid"))}
	if c.has("xid") {
		key.XID = frame.Number(c.number("xid"))
	}
	return key
}

func (c *vectorCase) accept(buffer *flow.ReorderBuffer) {
	c.knows("op", "rid", "xid", "seq", "type", "deliver", "error")
	key := c.flowKey()
	offered := c.stepFrame(key)
	want, refusal := c.delivered(), c.refusal()
	if c.has("deliver") == c.has("error") {
		c.fail("a step has one of deliver and error")
	}
	if len(c.failures) > 0 {
		return
	}
	wire, err := offered.Append(nil)
	if err != nil {
		c.fail("Append = %v", err)
		return
	}
	before := buffer.Stats()
	got, err := deliveries(buffer, offered.Head(), wire)
	switch {
	case !errors.Is(err, refusal):
		c.fail("Accept = %s, want %s", orNone(err), orNone(refusal))
	case err != nil && frame.KindOf(err) != frame.ErrProtocol:
		c.fail("Accept = an error of kind %s, want %s: %v", frame.KindOf(err), frame.ErrProtocol, err)
	case err != nil && buffer.Stats() != before:
		c.fail("Accept refuses a frame and changes the buffer from %+v to %+v", before, buffer.Stats())
	case !slices.Equal(got, want):
		c.fail("deliver = [%s], want [%s]", strings.Join(got, ", "), strings.Join(want, ", "))
	}
}

func orNone(err error) string {
	if err == nil {
		return "no error"
	}
	return err.Error()
}

// stepFrame returns the frame that a step offers, with what its type needs.
func (c *vectorCase) stepFrame(key flow.Key) *frame.Frame {
	f := &frame.Frame{ID: key.RID, RoutingID: key.XID, Seq: c.number("seq"), Type: c.frameType()}
	f.ChunkIndex, f.Checksum, f.Credit = frame.Some[uint64](0), frame.Some[uint64](0), frame.Some[uint64](1)
	return f
}

func (c *vectorCase) frameType() frame.Type {
	name := c.text("type")
	t, ok := frame.ParseType(name)
	if c.has("type") && !ok {
		c.fail("unknown type %q", name)
	}
	return t
}

// delivered returns the frames that a step says are let go.
func (c *vectorCase) delivered() []string {
	if !c.has("deliver") {
		return nil
	}
	var frames []string
	for i, v := range c.list("deliver") {
		d := &vectorCase{}
		if o, ok := v.(*jsonObject); ok {
			d.open(o)
			d.knows("type", "seq")
			frames = append(frames, fmt.Sprintf("%v %d", d.frameType(), d.number("seq")))
		} else {
			d.fail("no object")
		}
		for _, failure := range d.failures {
			c.fail("deliver %d: %s", i, failure)
		}
	}
	return frames
}

// refusal returns the error that a step states, and nil for none.
func (c *vectorCase) refusal() error {
	if !c.has("error") {
		return nil
	}
	name := c.text("error")
	err, ok := refusals[name]
	if !ok {
		c.fail("unknown error %q", name)
	}
	return err
}

// deliveries offers a frame and returns what the buffer lets go because of it. The bytes that
// come out say what they are; where the head beside them differs, that is said too.
func deliveries(buffer *flow.ReorderBuffer, head frame.Head, wire []byte) ([]string, error) {
	ready, err := buffer.Accept(&head, wire)
	if err != nil || !ready {
		return nil, err
	}
	key := flow.KeyOf(head)
	frames := []string{deliveryText(head, wire, key)}
	for {
		head, wire, ok := buffer.Release()
		if !ok {
			return frames, nil
		}
		frames = append(frames, deliveryText(head, wire, key))
	}
}

func deliveryText(head frame.Head, wire []byte, key flow.Key) string {
	inside, err := frame.Check(wire)
	if err != nil || inside != head || flow.KeyOf(inside) != key {
		return fmt.Sprintf("%v %d with the head %+v of another frame", inside.Type, inside.Seq, head)
	}
	return fmt.Sprintf("%v %d", inside.Type, inside.Seq)
}
