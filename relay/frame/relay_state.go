package frame

// NewRelayState returns a RELAY_STATE with a payload that nobody between looks into, and which it
// borrows. A payload of nil is written as an empty one: a RELAY_STATE without a payload would
// change nothing.
func NewRelayState(payload []byte) Frame {
	if payload == nil {
		payload = []byte{}
	}
	return Frame{Type: TypeRelayState, ID: Number(0), Payload: payload}
}
