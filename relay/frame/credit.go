package frame

// A Direction says which streams of a request a CREDIT is for, and so which way it travels.
type Direction uint8

// The directions.
const (
	NoDirection       Direction = iota // none, or an unknown one: such a CREDIT can reach nobody
	RequestDirection                   // argument streams: the CREDIT travels towards the requester
	ResponseDirection                  // output streams: the CREDIT travels towards the handler

	numDirections
)

const creditDirKey = "credit_dir"

var directionNames = [numDirections]string{"", "request", "response"}

// directionMetas are the metas of CREDIT frames. Nobody changes them.
var directionMetas = [numDirections]Meta{
	RequestDirection:  fixedMeta(RequestDirection),
	ResponseDirection: fixedMeta(ResponseDirection),
}

// String returns the direction as it is written in meta, such as response; nothing for none.
func (d Direction) String() string {
	if d < numDirections {
		return directionNames[d]
	}
	return ""
}

// Put adds the direction to a meta. [MetaBuilder.Meta] fails for none.
func (d Direction) Put(b *MetaBuilder) {
	if d.String() == "" {
		b.refuse("a credit frame without direction")
	}
	b.Text(creditDirKey, d.String())
}

// NewCredit returns a CREDIT of some CHUNKs for a stream, whose id it borrows; nil stands for the
// request's only stream. It allocates nothing. Without a direction nobody can make use of it.
func NewCredit(id ID, streamID []byte, chunks uint64, d Direction) Frame {
	f := Frame{Type: TypeCredit, ID: id, StreamID: streamID, Credit: Some(chunks)}
	if d < numDirections {
		f.Meta = directionMetas[d]
	}
	return f
}

// CreditDirection returns the direction of a CREDIT.
func (f *Frame) CreditDirection() Direction {
	name, _ := f.Meta.Text(creditDirKey)
	for d, known := range directionNames {
		if string(name) == known && known != "" {
			return Direction(d)
		}
	}
	return NoDirection
}
