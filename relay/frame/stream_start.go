package frame

// NewStreamStart returns a STREAM_START of a stream with an id and a media URN, which it borrows.
// It says neither how the stream's CHUNKs are to be taken (IsSequence) nor that it may have no
// end (Unbounded).
func NewStreamStart(id ID, streamID, mediaURN []byte) Frame {
	return Frame{Type: TypeStreamStart, ID: id, StreamID: streamID, MediaURN: mediaURN}
}
