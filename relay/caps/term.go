package caps

import "slices"

// A term is something that caps have in common and that a request can ask for. The index lists
// the caps of each.
type term struct {
	what  trait
	key   string // of a tag
	value string // of a tag, or an effect, with the traits that have one
}

// A trait is what a term says. What the tags of a cap and those of its out supply is found by
// what a request demands or excludes, by key alone or by key and value. With in it is the other
// way: what a cap demands of its input is found by what a request supplies. One of its demands is
// enough to find it by, the rarest.
type trait uint8

const (
	hasEffect trait = iota

	tagOfKey    // a tag that demands its key, so that the key is there
	tagOfValue  // the same, with exactly that value
	tagOfOthers // a tag that may have more values than one, or none
	tagOpen     // a tag that says nothing of its key

	outOfKey // the same of out
	outOfValue
	outOfOthers
	outOpen
	outIsTop

	inOfKey    // in demands that key
	inOfValue  // it demands exactly that value
	inOfOthers // it demands no particular value
	inOfNone   // it demands no key
	inExcludes // it must not have that key
)

// From the trait of a key to those next to it.
const (
	ofValue  = tagOfValue - tagOfKey
	ofOthers = tagOfOthers - tagOfKey
	ofOpen   = tagOpen - tagOfKey
)

// wide returns the term of a tag's key.
func (t *Tag) wide(of trait) term { return term{what: of, key: t.Key} }

// value returns the term of a tag's key and value.
func (t *Tag) value(of trait) term { return term{what: of + ofValue, key: t.Key, value: t.Value} }

// others returns the term of a tag's key without a value of its own.
func (t *Tag) others(of trait) term { return term{what: of + ofOthers, key: t.Key} }

// narrow returns the term of a tag that says more than its key.
func (t *Tag) narrow(of trait) term {
	if t.Form == FormExactly {
		return t.value(of)
	}
	return t.others(of)
}

// demandTerms appends the narrow term of each key that in demands.
func (c *Cap) demandTerms(terms []term) []term {
	tags := c.in.urn.tags
	for i := range tags {
		if tags[i].Form.demands() {
			terms = append(terms, tags[i].narrow(inOfKey))
		}
	}
	return terms
}

// terms appends all terms of a cap; common says how many caps have each demand of in.
func (c *Cap) terms(terms []term, common map[term]int) []term {
	terms = append(terms, term{what: hasEffect, value: c.effect.String()})
	terms = supplyTerms(terms, tagOfKey, c.tags)
	terms = supplyTerms(terms, outOfKey, c.out.urn.tags)
	if c.out.IsTop() {
		terms = append(terms, term{what: outIsTop})
	}
	for _, t := range c.in.urn.tags {
		if t.Form == FormAbsent {
			terms = append(terms, term{what: inExcludes, key: t.Key})
		}
	}
	var space [8]term
	demands := c.demandTerms(space[:0])
	if len(demands) == 0 {
		return append(terms, term{what: inOfNone})
	}
	rarest := slices.MinFunc(demands, func(a, b term) int { return common[a] - common[b] })
	return append(terms, rarest, term{what: inOfKey, key: rarest.key})
}

func supplyTerms(terms []term, of trait, tags []Tag) []term {
	for i := range tags {
		switch t := &tags[i]; {
		case t.Form.demands():
			terms = append(terms, t.wide(of), t.narrow(of))
		case t.Form == FormOpen:
			terms = append(terms, t.wide(of+ofOpen), t.others(of))
		}
	}
	return terms
}
