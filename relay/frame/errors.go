package frame

import (
	"errors"
	"fmt"
	"io"
	"strconv"
)

// A Kind is a class of errors, the same for every part of the relay. It is an error itself,
// for errors.Is: errors.Is(err, frame.ErrProtocol).
type Kind string

// The kinds of errors.
const (
	ErrIO            Kind = "io"              // a socket or pipe failed
	ErrEncode        Kind = "encode"          // a frame cannot be encoded
	ErrDecode        Kind = "decode"          // a body is not one well-formed CBOR item
	ErrInvalidFrame  Kind = "invalid_frame"   // a body is well formed, but no frame
	ErrFrameTooLarge Kind = "frame_too_large" // a length above the limit
	ErrUnexpectedEOF Kind = "unexpected_eof"  // the stream ends within a frame
	ErrProtocol      Kind = "protocol"        // a good frame in the wrong place or order
	ErrHandshake     Kind = "handshake"       // a connection did not begin as it must
)

// Error returns the kind's name, such as invalid_frame.
func (k Kind) Error() string { return string(k) }

// An Error is a failure of the relay.
type Error struct {
	Kind   Kind
	Offset int   // in bytes into the body, when a body is at fault; -1 elsewhere
	Err    error // what is wrong; wraps what caused it, if something did
}

// Error says what is wrong and where.
func (e *Error) Error() string {
	if e.Offset >= 0 {
		return "offset " + strconv.Itoa(e.Offset) + ": " + e.Err.Error()
	}
	return e.Err.Error()
}

// Is reports whether target is the error's kind; an [ErrUnexpectedEOF] is
// [io.ErrUnexpectedEOF] too.
func (e *Error) Is(target error) bool {
	return target == e.Kind || target == io.ErrUnexpectedEOF && e.Kind == ErrUnexpectedEOF
}

// Unwrap returns what is wrong.
func (e *Error) Unwrap() error { return e.Err }

// Errorf returns an error of a kind that is about no body; the rest is as for [fmt.Errorf].
func Errorf(kind Kind, format string, args ...any) error {
	return &Error{Kind: kind, Offset: -1, Err: fmt.Errorf(format, args...)}
}

// KindOf returns the kind of the first [*Error] that err wraps, or "" when it wraps none.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return ""
}

// faultAt returns an error about the byte of a body at an offset.
func faultAt(kind Kind, offset int, format string, args ...any) *Error {
	return &Error{Kind: kind, Offset: offset, Err: fmt.Errorf(format, args...)}
}
