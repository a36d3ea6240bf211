package call

import (
	"context"
	"errors"
	"strings"

	"github.com/cosim-go/cosim/relay/frame"
)

// Codes of errors that this side of a request makes, and of reasons for a cancel.
const (
	CodeCancelled       = "CANCELLED"
	CodeAborted         = "ABORTED"
	CodeCollateral      = "ABORTED_COLLATERAL"
	CodeCreditViolation = "CREDIT_VIOLATION"
	CodeProtocolError   = "PROTOCOL_ERROR"
	CodeHandlerError    = "HANDLER_ERROR" // an END that does not say success, too
)

// An Error is how a request failed: what an ERR says.
type Error struct {
	Code        string // for machines, such as NO_HANDLER
	Attribution frame.Attribution
	Message     string // for people
	ArgURN      string // media URN of the one argument concerned; "" for none
}

// Error returns the code, whose doing it is, and the message.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Code)
	if e.Attribution != frame.NoAttribution {
		b.WriteString(" (" + e.Attribution.String() + ")")
	}
	b.WriteString(": " + e.Message)
	if e.ArgURN != "" {
		b.WriteString(" [" + e.ArgURN + "]")
	}
	return b.String()
}

// Is reports whether target is an *Error with the same code that names nothing else, or the same of it:
// errors.Is(err, &call.Error{Code: "NO_HANDLER"}).
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code &&
		(t.Attribution == frame.NoAttribution || t.Attribution == e.Attribution) &&
		(t.Message == "" || t.Message == e.Message) &&
		(t.ArgURN == "" || t.ArgURN == e.ArgURN)
}

// Info returns what an ERR frame of the error says. A code, message or attribution that is missing is filled in,
// since no ERR goes without: HANDLER_ERROR, the code, and internal.
func (e *Error) Info() frame.ErrInfo {
	i := frame.ErrInfo{Attribution: e.Attribution}
	code, message := e.Code, e.Message
	if strings.TrimSpace(code) == "" {
		code = CodeHandlerError
	}
	if strings.TrimSpace(message) == "" {
		message = code
	}
	if i.Attribution == frame.NoAttribution {
		i.Attribution = frame.AttributionInternal
	}
	i.Code, i.Message = []byte(strings.ToValidUTF8(code, "\uFFFD")), []byte(strings.ToValidUTF8(message, "\uFFFD"))
	if urn := strings.ToValidUTF8(e.ArgURN, "\uFFFD"); strings.TrimSpace(urn) != "" {
		i.ArgURN = []byte(urn)
	}
	return i
}

// A Cancelled is why a request is cancelled. As the cause of a context it is the reason that goes with the
// CANCEL, and it is the cause of the context that a handler of a cancelled request has. The zero value gives no reason.
type Cancelled struct {
	Code        string // such as CANCELLED; "" for none
	Attribution frame.Attribution
	Message     string // for people; "" for none
}

// ErrCancelledByUser is the cause of a context that ends because a person asked for it:
//
//	ctx, cancel := context.WithCancelCause(ctx)
//	cancel(call.ErrCancelledByUser)
var ErrCancelledByUser = &Cancelled{CodeCancelled, frame.AttributionUser, "Cancelled by user"}

// Error says how the request ended, and in whose name.
func (c *Cancelled) Error() string {
	switch c.Code {
	case "":
		return "the request was cancelled"
	case CodeCancelled:
		return or(c.Message, "the request was cancelled")
	case CodeAborted:
		return "aborted by the host: " + or(c.Message, "no reason given")
	case CodeCollateral:
		return "aborted because of a failure elsewhere: " + or(c.Message, "no reason given")
	}
	return or(c.Message, "the request was cancelled: "+c.Code)
}

// Is reports whether target is a *Cancelled of the same content.
func (c *Cancelled) Is(target error) bool {
	t, ok := target.(*Cancelled)
	return ok && *t == *c
}

// Reason returns what the CANCEL says.
func (c *Cancelled) Reason() frame.CancelReason {
	r := frame.CancelReason{Attribution: c.Attribution}
	if c.Code != "" {
		r.Code = []byte(strings.ToValidUTF8(c.Code, "\uFFFD"))
	}
	if c.Message != "" {
		r.Message = []byte(strings.ToValidUTF8(c.Message, "\uFFFD"))
	}
	return r
}

// Terminal returns the ERR that a request ends with when it was cancelled for the reason: its code, or else CANCELLED; its
// attribution, or else internal.
func (c *Cancelled) Terminal() *Error {
	e := &Error{Code: or(c.Code, CodeCancelled), Attribution: c.Attribution, Message: c.Error()}
	if e.Attribution == frame.NoAttribution {
		e.Attribution = frame.AttributionInternal
	}
	return e
}

// CancelledFrom returns the reason that a CANCEL gives. It borrows nothing.
func CancelledFrom(r frame.CancelReason) *Cancelled {
	return &Cancelled{Code: string(r.Code), Attribution: r.Attribution, Message: string(r.Message)}
}

// CancelCause returns the reason for cancelling a request whose context has ended: the *Cancelled that is its
// cause; for an *Error, which is the failure of something else, ABORTED_COLLATERAL with its attribution; and else
// ABORTED, internal, with the cause as the message.
func CancelCause(ctx context.Context) *Cancelled { return reasonOf(context.Cause(ctx)) }

func reasonOf(cause error) *Cancelled {
	var c *Cancelled
	if errors.As(cause, &c) {
		return c
	}
	var e *Error
	if errors.As(cause, &e) {
		return &Cancelled{CodeCollateral, e.Attribution, e.Message}
	}
	message := "the caller has gone"
	if cause != nil {
		message = cause.Error()
	}
	return &Cancelled{CodeAborted, frame.AttributionInternal, message}
}

func or(s, absent string) string {
	if s == "" {
		return absent
	}
	return s
}
