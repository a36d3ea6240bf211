package caps

import (
	"iter"
	"slices"
)

// A URN is a tagged URN: a prefix and tags. The zero URN has neither; its text is ":".
type URN struct {
	text   string
	prefix string
	tags   []Tag // by key
}

// ParseURN reads a tagged URN with a prefix, which has to be in lower case: cap, media, or any
// other. Of a cap or a media URN it checks the form alone; see [Parse] and [ParseMedia]. The
// error is an [*Error].
func ParseURN(prefix, text string) (URN, error) {
	spots, err := scan(prefix, text)
	if err == nil {
		var u URN
		if u, err = newURN(prefix, spots); err == nil {
			return u, nil
		}
	}
	return URN{}, err
}

// newURN returns the URN with the tags that were read. They are sorted.
func newURN(prefix string, spots []spot) (URN, *Error) {
	u := URN{prefix: prefix}
	if len(spots) > 0 {
		u.tags = make([]Tag, len(spots))
		for i := range spots {
			u.tags[i] = spots[i].Tag
		}
		slices.SortFunc(u.tags, byKey)
	}
	u.text = settle(prefix, u.tags)
	return u, checkLength(u.text)
}

// checkLength checks a canonical text: folding makes some characters longer.
func checkLength(text string) *Error {
	if len(text) > MaxLength {
		return faultAt(ErrTooLong, 0, "%d bytes in canonical form, more than %d", len(text), MaxLength)
	}
	return nil
}

// String returns the canonical text.
func (u URN) String() string {
	if u.text == "" {
		return ":"
	}
	return u.text
}

// Prefix returns the prefix, without the colon.
func (u URN) Prefix() string { return u.prefix }

// Tags returns the tags in the order of their keys.
func (u URN) Tags() iter.Seq[Tag] { return slices.Values(u.tags) }

// Specificity returns the sum of the specificities of the tags' forms.
func (u URN) Specificity() int { return score(u.tags) }

// Conforms reports whether u, as an instance, has what a pattern asks for. It is an error of kind
// [ErrPrefix] when the prefixes differ.
func (u URN) Conforms(pattern URN) (bool, error) {
	if u.prefix != pattern.prefix {
		return false, faultAt(ErrPrefix, 0, "cannot compare %s: and %s:", u.prefix, pattern.prefix)
	}
	return conform(u.tags, pattern.tags), nil
}

// Accepts reports whether u, as a pattern, gets all that it asks for from an instance. The error
// is that of [URN.Conforms].
func (u URN) Accepts(instance URN) (bool, error) { return instance.Conforms(u) }

// Equivalent reports whether each conforms to the other. This is not transitive, and equivalent
// URNs can have different texts: x=1 and x are equivalent, x and x=2 too, x=1 and x=2 are not.
// The error is that of [URN.Conforms].
func (u URN) Equivalent(other URN) (bool, error) {
	there, err := u.Conforms(other)
	return there && conform(other.tags, u.tags), err
}
