package bridge

import "github.com/cosim-go/cosim/relay/frame"

// Send writes a frame as it is: numbering is the caller's. It returns when the frame is on the
// stream, for which it waits while the slave reads nothing, and is done with f then. It fails as
// [frame.Writer.Write] does, and so do SendState and SendPolicy.
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
