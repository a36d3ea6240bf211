package frame

// NewStreamEnd returns the STREAM_END of a stream, whose id it borrows, with the number of its
// CHUNKs; only an unbounded stream ends without one.
func NewStreamEnd(id ID, streamID []byte, chunks Optional[uint64]) Frame {
	return Frame{Type: TypeStreamEnd, ID: id, StreamID: streamID, ChunkCount: chunks}
}
