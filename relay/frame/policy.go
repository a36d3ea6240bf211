package frame

// NewPolicy returns a POLICY with a payload that nobody between looks into, and which it borrows.
func NewPolicy(payload []byte) Frame {
	return Frame{Type: TypePolicy, ID: Number(0), Payload: payload}
}
