package caps

import (
	"iter"
	"slices"
)

// Identity is the canonical text of the cap that answers with its input. Every host has it.
const Identity = "cap:effect=none"

const (
	capPrefix = "cap"
	inKey     = "in"
	outKey    = "out"
	effectKey = "effect"
)

// A Cap is a cap URN: what a capability takes, what it gives, and by which tags it is told from
// others. It comes from [Parse]; nothing changes it.
type Cap struct {
	text        string
	in, out     Media
	effect      Effect
	tags        []Tag // all but in, out and effect, by key
	specificity int
}

// identity is Identity as it reads.
var identity = &Cap{text: Identity, effect: EffectNone}

// Parse reads a cap URN. The error is an [*Error]; a fault within the media URN of in or out is
// of kind [ErrInvalidIn] or [ErrInvalidOut], at the place of the fault.
func Parse(text string) (*Cap, error) {
	spots, err := scan(capPrefix, text)
	if err != nil {
		return nil, err
	}
	c := &Cap{}
	if err := c.fill(text, spots); err != nil {
		return nil, err
	}
	return c, nil
}

// fill makes c the cap with the tags that were read.
func (c *Cap) fill(text string, spots []spot) (err *Error) {
	if c.in, err = mediaOf(text, spotOf(spots, inKey), ErrInvalidIn); err != nil {
		return err
	}
	if c.out, err = mediaOf(text, spotOf(spots, outKey), ErrInvalidOut); err != nil {
		return err
	}
	effect := spotOf(spots, effectKey)
	if c.effect, err = effectOf(effect); err != nil {
		return err
	}
	c.settle(spots)
	switch {
	case c.effect == EffectDeclared && len(c.tags) == 0 && c.in.IsTop() && c.out.IsTop():
		return faultAt(ErrIllegalDeclaration, len(capPrefix)+1, "a cap that takes anything, gives anything and has no tag")
	case c.effect == EffectNone && !c.in.Conforms(c.out):
		return faultAt(ErrIllegalDeclaration, effect.at, "the input is not what the output is, which an effect of none says")
	}
	return checkLength(c.text)
}

// spotOf returns the tag with a key, or nil.
func spotOf(spots []spot, key string) *spot {
	for i := range spots {
		if spots[i].Key == key {
			return &spots[i]
		}
	}
	return nil
}

// mediaOf returns what the tag in or out of a cap says, which is nil when there is none.
func mediaOf(text string, t *spot, kind Kind) (Media, *Error) {
	switch {
	case t == nil, t.Form == FormPresent:
		return Media{}, nil
	case t.Form != FormExactly:
		return Media{}, faultAt(kind, t.at, "%s takes a media URN or *, not %.60q", t.Key, t.Tag.String())
	}
	m, err := parseMedia(t.Value)
	if err != nil {
		return Media{}, faultAt(kind, t.place(text, err.Offset), "the media URN of %s: %s", t.Key, err.Detail)
	}
	return m, nil
}

// settle sets the canonical text, the tags and the specificity.
func (c *Cap) settle(spots []spot) {
	all := make([]Tag, 0, len(spots))
	for i := range spots {
		if !structural(spots[i].Tag) {
			all = append(all, spots[i].Tag)
		}
	}
	if !c.in.IsTop() {
		all = append(all, Tag{Key: inKey, Form: FormExactly, Value: c.in.String()})
	}
	if !c.out.IsTop() {
		all = append(all, Tag{Key: outKey, Form: FormExactly, Value: c.out.String()})
	}
	if t, there := c.effect.tag(); there {
		all = append(all, t)
	}
	slices.SortFunc(all, byKey)
	c.text = settle(capPrefix, all)
	c.tags = slices.DeleteFunc(all, structural)
	c.specificity = 10_000*c.out.Specificity() + 100*c.in.Specificity() + score(c.tags)
}

// structural reports whether a tag of a cap is in, out or effect.
func structural(t Tag) bool { return t.Key == inKey || t.Key == outKey || t.Key == effectKey }

// String returns the canonical text.
func (c *Cap) String() string { return c.text }

// In returns what the cap takes.
func (c *Cap) In() Media { return c.in }

// Out returns what the cap gives.
func (c *Cap) Out() Media { return c.out }

// Effect returns the effect.
func (c *Cap) Effect() Effect { return c.effect }

// Tags returns the tags other than in, out and effect, in the order of their keys.
func (c *Cap) Tags() iter.Seq[Tag] { return slices.Values(c.tags) }

// Specificity returns how much the cap says: 10 000 times the specificity of out, 100 times that
// of in, and those of the tags. The effect does not count. Nothing is carried: a hundred in the
// tags weighs as much as one in in.
func (c *Cap) Specificity() int { return c.specificity }
