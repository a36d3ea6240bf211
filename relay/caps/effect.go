package caps

// An Effect is what a cap says of how its output comes from its input.
type Effect uint8

// The effects.
const (
	EffectDeclared Effect = iota // the output is what the cap declares; the default
	EffectNone                   // the output is the input
	EffectPatch                  // the output is the input, with what in and out differ in changed
	EffectOpen                   // a request takes any effect
)

// String returns declared, none, patch, or ? for an open effect.
func (e Effect) String() string {
	switch e {
	case EffectNone:
		return "none"
	case EffectPatch:
		return "patch"
	case EffectOpen:
		return "?"
	}
	return "declared"
}

// effectOf returns what the tag effect of a cap says, which is nil when there is none.
func effectOf(t *spot) (Effect, *Error) {
	switch {
	case t == nil:
		return EffectDeclared, nil
	case t.Form == FormOpen, t.Form == FormPresent:
		return EffectOpen, nil
	case t.Form == FormExactly:
		for e := EffectDeclared; e < EffectOpen; e++ {
			if t.Value == e.String() {
				return e, nil
			}
		}
	}
	return 0, faultAt(ErrInvalidEffect, t.at, "effect is declared, none, patch or ?, not %.60q", t.Tag.String())
}

// tag returns the canonical tag, and false for the default, which is left out.
func (e Effect) tag() (Tag, bool) {
	switch e {
	case EffectDeclared:
		return Tag{}, false
	case EffectOpen:
		return Tag{Key: effectKey, Form: FormOpen}, true
	}
	return Tag{Key: effectKey, Form: FormExactly, Value: e.String()}, true
}
