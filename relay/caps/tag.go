package caps

import "strings"

// A Form is what a tag says of its key. As a number it is the tag's specificity.
type Form uint8

// The six forms, as they are written in canonical text.
const (
	FormOpen        Form = iota // ?x: says nothing
	FormAbsentOrNot             // x?=v: absent, or present with another value than v
	FormPresent                 // x: present with any value
	FormPresentNot              // x!=v: present with another value than v
	FormExactly                 // x=v: present with the value v
	FormAbsent                  // !x: absent
)

// A Tag is one part of a URN.
type Tag struct {
	Key   string // lower case, never empty
	Form  Form
	Value string // never empty with the forms that have one, and "" with the others; without quotes
}

// String returns the tag as it is written in canonical text.
func (t Tag) String() string { return string(appendTag(nil, t)) }

func (f Form) hasValue() bool { return f == FormAbsentOrNot || f == FormPresentNot || f == FormExactly }

// demands reports whether a pattern's tag of this form only matches where its key occurs.
func (f Form) demands() bool { return f == FormPresent || f == FormPresentNot || f == FormExactly }

// supplies reports whether an instance's tag of this form can match a pattern that demands its key.
func (f Form) supplies() bool { return f != FormAbsent && f != FormAbsentOrNot }

// A verdict says whether a tag of an instance matches one of a pattern with the same key.
type verdict uint8

const (
	no verdict = iota
	yes
	equal   // if the two values are equal
	differs // if they are not
)

// verdicts has a row for each form of an instance's tag and a column for each of a pattern's.
var verdicts = [6][6]verdict{
	FormOpen:        {FormOpen: yes, FormAbsentOrNot: yes, FormPresent: yes, FormPresentNot: yes, FormExactly: yes, FormAbsent: yes},
	FormAbsentOrNot: {FormOpen: yes, FormAbsentOrNot: yes, FormAbsent: yes},
	FormPresent:     {FormOpen: yes, FormAbsentOrNot: yes, FormPresent: yes, FormPresentNot: yes, FormExactly: yes},
	FormPresentNot:  {FormOpen: yes, FormAbsentOrNot: yes, FormPresent: yes, FormPresentNot: yes, FormExactly: differs},
	FormExactly:     {FormOpen: yes, FormAbsentOrNot: differs, FormPresent: yes, FormPresentNot: differs, FormExactly: equal},
	FormAbsent:      {FormOpen: yes, FormAbsentOrNot: yes, FormAbsent: yes},
}

func (t *Tag) matches(pattern *Tag) bool {
	switch verdicts[t.Form][pattern.Form] {
	case yes:
		return true
	case equal:
		return t.Value == pattern.Value
	case differs:
		return t.Value != pattern.Value
	}
	return false
}

// conform reports whether the tags of an instance match those of a pattern on every key of
// either. Both are sorted by key. A key that only the instance has matches always.
func conform(instance, pattern []Tag) bool {
	i := 0
	for p := range pattern {
		key := pattern[p].Key
		for i < len(instance) && instance[i].Key < key {
			i++
		}
		switch {
		case i == len(instance) || instance[i].Key != key:
			if pattern[p].Form.demands() {
				return false
			}
		case !instance[i].matches(&pattern[p]):
			return false
		}
	}
	return true
}

// score returns the specificity of tags.
func score(tags []Tag) int {
	sum := 0
	for i := range tags {
		sum += int(tags[i].Form)
	}
	return sum
}

func byKey(a, b Tag) int { return strings.Compare(a.Key, b.Key) }
