package route

import (
	"errors"
	"fmt"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/frame"
)

// A Kind is a class of errors of this package. It is an error itself, for errors.Is:
// errors.Is(err, route.ErrNoHandler).
type Kind string

// The kinds of errors.
const (
	ErrNoHandler            Kind = "no_handler"            // no healthy master serves that cap, or lists that cartridge
	ErrUnknownRequest       Kind = "unknown_request"       // the request was never registered, or has ended
	ErrProtocol             Kind = "protocol"              // a frame, an id or a manifest is not as it has to be
	ErrAllMastersUnhealthy  Kind = "all_masters_unhealthy" // there are masters, and none of them is healthy
	ErrCartridgeUnavailable Kind = "cartridge_unavailable" // the cartridge has vanished and did not come back in time
	ErrMasterDied           Kind = "master_died"           // the master was lost when the request was written to it
	ErrAttached             Kind = "attached"              // there is a master of that id, and its socket is read
	ErrUnknownMaster        Kind = "unknown_master"        // no master of that id is attached
	ErrClosed               Kind = "closed"                // the switch was closed
)

// Error returns the kind's name, such as no_handler.
func (k Kind) Error() string { return string(k) }

// An Error is a failure of a switch. One that the protocol has a code for, such as NO_HANDLER, wraps a
// [call.Error] with that code; one of kind ErrProtocol is of kind [frame.ErrProtocol] too.
type Error struct {
	Kind Kind
	Err  error // what is wrong
}

// Error says what is wrong.
func (e *Error) Error() string { return e.Err.Error() }

// Is reports whether target is the error's kind.
func (e *Error) Is(target error) bool {
	return target == e.Kind || e.Kind == ErrProtocol && target == frame.ErrProtocol
}

// Unwrap returns what is wrong.
func (e *Error) Unwrap() error { return e.Err }

// KindOf returns the kind of the first *Error that err wraps, or "" when it wraps none.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return ""
}

func errorf(kind Kind, format string, args ...any) error {
	return &Error{kind, fmt.Errorf(format, args...)}
}

// The codes of ERR frames that a switch makes, beside those of package call.
const (
	codeNoHandler   = "NO_HANDLER"
	codeUnavailable = "CARTRIDGE_UNAVAILABLE"
	codeMasterDied  = "MASTER_DIED"
	codeTooLarge    = "FRAME_TOO_LARGE"
)

// coded returns an error with a code of the protocol, the environment's doing.
func coded(kind Kind, code, format string, args ...any) error {
	return &Error{kind, &call.Error{
		Code: code, Attribution: frame.AttributionEnvironment, Message: fmt.Sprintf(format, args...),
	}}
}

var (
	errClosed = errorf(ErrClosed, "the switch is closed")
	errNoID   = errorf(ErrProtocol, "a master needs an id")
	errPolicy = errorf(ErrProtocol, "a policy frame from the host: only the switch may send one")
)
