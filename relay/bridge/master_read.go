package bridge

import (
	"io"

	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
)

// ReadFrame returns the next frame that is for the switch, in the order of its flow. The frame
// belongs to the master and is valid until the next call. RELAY_NOTIFY frames are taken in on
// the way, RELAY_STATE frames dropped; neither is returned.
//
// At the end of the link it returns [io.EOF]; frames can still be sent. Any other error is for
// good and closes the link: the reader's, a frame against the order of its flow, or a POLICY, which only a switch may send.
func (m *Master) ReadFrame() (*frame.Frame, error) {
	if m.err != nil {
		return nil, m.err
	}
	f, err := m.readFrame()
	if err != nil {
		m.err = err
		m.publish()
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
		if f, err = m.take(f); f != nil || err != nil {
			return f, err
		}
	}
}

// take handles the frame that was read last, and returns it if it is the next to be returned.
func (m *Master) take(f *frame.Frame) (*frame.Frame, error) {
	switch f.Type {
	case frame.TypeRelayNotify:
		m.counted.Kept++
		m.Update(f)
		return nil, nil
	case frame.TypeRelayState:
		m.counted.Dropped++
		logDrop(m.options.Logger, f.Type, "only the switch may send one")
		return nil, nil
	case frame.TypePolicy:
		return nil, frame.Errorf(frame.ErrProtocol, "a policy frame from the slave: only the switch may send one")
	}
	head := f.Head()
	ready, err := m.order.Accept(&head, m.in.Wire())
	if err != nil || !ready {
		return nil, err
	}
	m.release = f.Type.Flow()
	m.returned(head, m.in.Wire())
	return f, nil
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
	m.returned(head, wire)
	return &m.frame, true, nil
}

// returned counts a frame, and forgets a flow whose end it is.
func (m *Master) returned(head frame.Head, wire []byte) {
	m.counted.Frames++
	m.counted.Bytes += uint64(len(wire))
	if head.Type.Terminal() {
		m.order.Cleanup(flow.KeyOf(head))
	}
}

// publish shows the counters to those who ask.
func (m *Master) publish() error {
	if lost := m.counted.observe(m.order); lost > 0 {
		logLost(m.options.Logger, lost)
	}
	m.published.publish(m.counted)
	return nil
}
