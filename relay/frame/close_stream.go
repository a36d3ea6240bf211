package frame

// NewCloseStream returns a CLOSE_STREAM, which asks a handler to end a live input, whose id it
// borrows, and to finish as usual; nil stands for all of them.
func NewCloseStream(id ID, streamID []byte) Frame {
	return Frame{Type: TypeCloseStream, ID: id, StreamID: streamID}
}
