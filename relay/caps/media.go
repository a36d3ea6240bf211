package caps

import "iter"

const (
	mediaPrefix = "media"
	topText     = "media:"
	voidKey     = "void"
)

// A Media is a media URN: what data is. The zero Media is the top, media:, which is anything.
type Media struct {
	urn URN // with prefix and text, unless it is the top
}

// ParseMedia reads a media URN. The error is an [*Error].
func ParseMedia(text string) (Media, error) {
	m, err := parseMedia(text)
	if err != nil {
		return Media{}, err
	}
	return m, nil
}

func parseMedia(text string) (Media, *Error) {
	spots, err := scan(mediaPrefix, text)
	if err != nil || len(spots) == 0 {
		return Media{}, err
	}
	for i := range spots {
		if spots[i].Key == voidKey && len(spots) > 1 {
			return Media{}, faultAt(ErrVoidNotAtomic, spots[i].at, "%s has no other tags next to it", voidKey)
		}
	}
	u, err := newURN(mediaPrefix, spots)
	return Media{u}, err
}

// String returns the canonical text.
func (m Media) String() string {
	if m.IsTop() {
		return topText
	}
	return m.urn.text
}

// URN returns the media URN as a tagged URN.
func (m Media) URN() URN {
	if m.IsTop() {
		return URN{text: topText, prefix: mediaPrefix}
	}
	return m.urn
}

// IsTop reports whether this is media:, which is anything.
func (m Media) IsTop() bool { return len(m.urn.tags) == 0 }

// Tags returns the tags in the order of their keys.
func (m Media) Tags() iter.Seq[Tag] { return m.urn.Tags() }

// Specificity returns the sum of the specificities of the tags' forms.
func (m Media) Specificity() int { return m.urn.Specificity() }

// Conforms reports whether m, as an instance, has what a pattern asks for.
func (m Media) Conforms(pattern Media) bool { return conform(m.urn.tags, pattern.urn.tags) }

// Accepts reports whether m, as a pattern, gets all that it asks for from an instance.
func (m Media) Accepts(instance Media) bool { return instance.Conforms(m) }

// Equivalent reports whether each conforms to the other; see [URN.Equivalent].
func (m Media) Equivalent(other Media) bool { return m.Conforms(other) && other.Conforms(m) }
