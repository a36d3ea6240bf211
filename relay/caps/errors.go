package caps

import (
	"errors"
	"fmt"
	"strconv"
)

// A Kind is a class of errors of this package. It is an error itself, for errors.Is:
// errors.Is(err, caps.ErrDuplicateKey).
type Kind string

// The kinds of errors: why a text is no URN, no media URN or no cap.
const (
	ErrTooLong            Kind = "too_long"            // it, or its canonical text, is longer than MaxLength
	ErrWhitespace         Kind = "whitespace"          // white space before or behind it
	ErrEmpty              Kind = "empty"               // nothing there
	ErrPrefix             Kind = "prefix"              // no prefix, or another than is due
	ErrTooManyTags        Kind = "too_many_tags"       // more than MaxTags
	ErrEmptyComponent     Kind = "empty_component"     // a value is missing behind =, or a key behind ? or ! at the end
	ErrInvalidCharacter   Kind = "invalid_character"   // a character where it must not be
	ErrInvalidEscape      Kind = "invalid_escape"      // \ before something else than " and \
	ErrUnterminatedQuote  Kind = "unterminated_quote"  // a closing quote is missing
	ErrNumericKey         Kind = "numeric_key"         // a key of ASCII digits only
	ErrDuplicateKey       Kind = "duplicate_key"       // a key that occurs twice
	ErrVoidNotAtomic      Kind = "void_not_atomic"     // a media URN with the key void and another one
	ErrInvalidIn          Kind = "invalid_in"          // in is no media URN
	ErrInvalidOut         Kind = "invalid_out"         // out is no media URN
	ErrInvalidEffect      Kind = "invalid_effect"      // effect is not declared, none, patch or open
	ErrIllegalDeclaration Kind = "illegal_declaration" // a cap that says nothing, or contradicts itself
)

// Error returns the kind's name, such as duplicate_key.
func (k Kind) Error() string { return string(k) }

// An Error is a fault of a text that is no URN.
type Error struct {
	Kind   Kind
	Offset int    // where, in bytes from the start of the text; its length for what is missing at its end
	Detail string // what is wrong, in words
}

// Error says what is wrong and where.
func (e *Error) Error() string { return "offset " + strconv.Itoa(e.Offset) + ": " + e.Detail }

// Is reports whether target is the error's kind.
func (e *Error) Is(target error) bool { return target == e.Kind }

// KindOf returns the kind of the first [*Error] that err wraps, or "" when it wraps none.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return ""
}

func faultAt(kind Kind, offset int, format string, args ...any) *Error {
	return &Error{Kind: kind, Offset: offset, Detail: fmt.Sprintf(format, args...)}
}
