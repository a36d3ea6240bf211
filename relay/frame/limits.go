package frame

// The protocol's numbers.
const (
	Version = 4 // the one version that is spoken; in key 0 of every frame

	DefaultMaxFrame  = 3_670_016  // bytes of a body, its length prefix not counted
	HardMaxFrame     = 16_777_216 // bytes of a body, whatever was negotiated
	DefaultMaxChunk  = 262_144    // bytes of data in a CHUNK
	DefaultMaxHeld   = 64         // frames of a flow that a reorder buffer holds
	DefaultCredit    = 32         // CHUNKs of a stream that go out before the first grant
	MaxNesting       = 64         // arrays, maps and tags within tags; the frame's own map is the first
	PrefixSize       = 4          // bytes of the length before a body, an unsigned number, big endian
	largestKey       = 20
	firstUnsafeCount = 1 << 63 // the reference implementation writes this and more as negative numbers
)

// Limits are what one side of a connection can take. Every number is at least 1.
type Limits struct {
	MaxFrame         uint64 // bytes of a frame's body
	MaxChunk         uint64 // bytes of data in a CHUNK
	MaxReorderBuffer uint64 // frames that are held for each flow
	InitialCredit    uint64 // CHUNKs of a stream before the first grant
}

// DefaultLimits returns the limits of a side that knows nothing better.
func DefaultLimits() Limits {
	return Limits{DefaultMaxFrame, DefaultMaxChunk, DefaultMaxHeld, DefaultCredit}
}

// Min returns the smaller of both, field by field.
func (l Limits) Min(m Limits) Limits {
	return Limits{
		min(l.MaxFrame, m.MaxFrame), min(l.MaxChunk, m.MaxChunk),
		min(l.MaxReorderBuffer, m.MaxReorderBuffer), min(l.InitialCredit, m.InitialCredit),
	}
}

// FrameLimit returns MaxFrame as a reader or writer takes it, at most [HardMaxFrame]. A plain
// conversion of what a peer said may be negative.
func (l Limits) FrameLimit() int { return int(min(l.MaxFrame, HardMaxFrame)) }

// boundFrame returns the limit in force for a limit that was asked for: at most [HardMaxFrame], and
// [DefaultMaxFrame] for 0.
func boundFrame(asked int) int {
	if asked <= 0 {
		asked = DefaultMaxFrame
	}
	return min(asked, HardMaxFrame)
}
