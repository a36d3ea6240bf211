package frame

// Keys of a frame's map.
const (
	keyVersion = iota
	keyType
	keyID
	keySeq
	keyContentType
	keyMeta
	keyPayload
	keyLen
	keyOffset
	keyEOF
	keyCap
	keyStreamID
	keyMediaURN
	keyRoutingID
	keyChunkIndex
	keyChunkCount
	keyChecksum
	keyIsSequence
	keyForceKill
	keyCredit
	keyUnbounded
)

// A Frame is one message. Fields that a type does not use are kept, not refused.
//
// Texts and Payload are nil when the frame has none; empty ones that are not nil are written
// and read as empty. They may be borrowed: see the package comment.
type Frame struct {
	Type      Type
	ID        ID     // the request; number 0 on HELLO, RELAY_NOTIFY, RELAY_STATE and POLICY
	RoutingID ID     // the switch's id of the request; the zero ID when absent
	Seq       uint64 // the number within the flow; 0 on frames outside of flows

	ContentType []byte           // UTF-8
	Meta        Meta             // what the types define, and what users add
	Payload     []byte           // what is carried; this package does not look at it
	Len         Optional[uint64] // bytes in all, on the first CHUNK of a split payload
	Offset      Optional[uint64] // bytes before this CHUNK in a split payload
	EOF         Optional[bool]   // true on END and on the last CHUNK of a split payload
	Cap         []byte           // a cap URN; UTF-8
	StreamID    []byte           // UTF-8
	MediaURN    []byte           // UTF-8
	ChunkIndex  Optional[uint64] // place in the stream, from 0; required on CHUNK
	ChunkCount  Optional[uint64] // CHUNKs of the stream, on STREAM_END
	Checksum    Optional[uint64] // FNV-1a, 64 bits, of the payload; required on CHUNK
	IsSequence  Optional[bool]   // the stream's CHUNKs are pieces of items
	ForceKill   Optional[bool]   // a CANCEL that does not ask
	Credit      Optional[uint64] // CHUNKs that are granted; required on CREDIT
	Unbounded   Optional[bool]   // the stream promises no end
}

// An Optional is a value that may be absent, which is its zero value. A false or 0 that is
// there is not absent.
type Optional[T any] struct {
	value T
	set   bool
}

// Some returns a value that is there.
func Some[T any](value T) Optional[T] { return Optional[T]{value, true} }

// Get returns the value and whether it is there.
func (o Optional[T]) Get() (value T, ok bool) { return o.value, o.set }

// Or returns the value, or absent when there is none.
func (o Optional[T]) Or(absent T) T {
	if o.set {
		return o.value
	}
	return absent
}

// IsSet reports whether the value is there.
func (o Optional[T]) IsSet() bool { return o.set }

// Clone returns a frame that borrows nothing.
func (f *Frame) Clone() *Frame {
	c := *f
	c.Meta = f.Meta.Clone()
	fields := [...]*[]byte{&c.ContentType, &c.Payload, &c.Cap, &c.StreamID, &c.MediaURN}
	size := 0
	for _, field := range fields {
		size += len(*field)
	}
	own := make([]byte, 0, size)
	for _, field := range fields {
		if *field != nil {
			start := len(own)
			own = append(own, *field...)
			*field = own[start:len(own):len(own)]
		}
	}
	return &c
}

// A Head is what a relay has to know of a frame.
type Head struct {
	Type      Type
	ID        ID
	RoutingID ID
	Seq       uint64
}

// Head returns the frame's head.
func (f *Frame) Head() Head {
	return Head{f.Type, f.ID, f.RoutingID, f.Seq}
}
