package frame

import "strconv"

// A Type says what a frame is. The zero value is HELLO.
type Type uint8

// The frame types of protocol version 4. Number 2 was an answer in one frame once and is
// retired for ever.
const (
	TypeHello       Type = 0  // first frame of a host and of a cartridge, with limits
	TypeReq         Type = 1  // begins a request
	TypeChunk       Type = 3  // a piece of a stream; the one type that costs credit
	TypeEnd         Type = 4  // ends a request body or a response
	TypeLog         Type = 5  // a message or a progress figure of a running request
	TypeErr         Type = 6  // ends a request body or a response, with a reason
	TypeHeartbeat   Type = 7  // a sign of life between host and cartridge
	TypeStreamStart Type = 8  // begins a stream
	TypeStreamEnd   Type = 9  // ends a stream
	TypeRelayNotify Type = 10 // what a host offers: slave to master, never beyond
	TypeRelayState  Type = 11 // the host's resources: master to slave, never beyond
	TypeCancel      Type = 12 // ends a request before its time
	TypeCredit      Type = 13 // lets the sender of a stream go on
	TypeCloseStream Type = 14 // asks for the orderly end of a live input
	TypePolicy      Type = policyNumber
)

// policyNumber is Policy's type number. Version 4 of the protocol names the frame without a
// number; 15 is what the published Python package capdag has for it since its release
// 1.497.47, in bifaci/frame.py, which speaks version 6.
const policyNumber = 15

// numTypes is one more than the highest type number.
const numTypes = policyNumber + 1

var typeNames = [numTypes]string{
	TypeHello: "hello", TypeReq: "req", TypeChunk: "chunk", TypeEnd: "end", TypeLog: "log",
	TypeErr: "err", TypeHeartbeat: "heartbeat", TypeStreamStart: "stream_start",
	TypeStreamEnd: "stream_end", TypeRelayNotify: "relay_notify", TypeRelayState: "relay_state",
	TypeCancel: "cancel", TypeCredit: "credit", TypeCloseStream: "close_stream", TypePolicy: "policy",
}

// ParseType returns the type of a name as [Type.String] writes it.
func ParseType(name string) (t Type, ok bool) {
	for i, n := range typeNames {
		if n == name && n != "" {
			return Type(i), true
		}
	}
	return 0, false
}

// Valid reports whether the protocol knows the type.
func (t Type) Valid() bool { return t < numTypes && typeNames[t] != "" }

// String returns the type's name, such as stream_start, or type(2) for one that is unknown.
func (t Type) String() string {
	if t.Valid() {
		return typeNames[t]
	}
	return "type(" + strconv.Itoa(int(t)) + ")"
}

const (
	flowTypes = 1<<TypeReq | 1<<TypeChunk | 1<<TypeEnd | 1<<TypeLog | 1<<TypeErr | 1<<TypeStreamStart | 1<<TypeStreamEnd
	terminals = 1<<TypeEnd | 1<<TypeErr
)

// Flow reports whether frames of the type are numbered within their flow and kept in order.
// The others overtake.
func (t Type) Flow() bool { return t < numTypes && flowTypes>>t&1 == 1 }

// Terminal reports whether a frame of the type ends its flow: END and ERR do.
func (t Type) Terminal() bool { return t < numTypes && terminals>>t&1 == 1 }
