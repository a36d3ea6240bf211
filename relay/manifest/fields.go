package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/bits"
)

// A field is a member of an object that has a meaning.
type field[T any] struct {
	name     string
	required bool // it has to be there; of others null is the same as absent
	read     func(*reader, *T) error
}

var (
	errMissing = errors.New("is missing")
	errTwice   = errors.New("occurs twice")
)

// readObject reads an object into v. Other members are kept in *extra, unless that is nil.
func readObject[T any](r *reader, v *T, fields []field[T], extra *map[string]json.RawMessage) error {
	var seen uint32
	guess := 0
	err := r.object(false, func(name []byte) error {
		i := fieldIndex(fields, guess, name)
		if i < 0 {
			return r.other(name, extra)
		}
		if seen&(1<<i) != 0 {
			return errTwice
		}
		seen |= 1 << i
		guess = i + 1
		if !fields[i].required && r.null() {
			return nil
		}
		return fields[i].read(r, v)
	})
	if err != nil {
		return err
	}
	for missing := ^seen & (1<<len(fields) - 1); missing != 0; missing &= missing - 1 {
		if f := fields[bits.TrailingZeros32(missing)]; f.required {
			return within(memberPath(f.name), errMissing)
		}
	}
	return nil
}

// fieldIndex returns the place of the field of that name, or -1. Writers keep to an order, so it looks
// from a guess on.
func fieldIndex[T any](fields []field[T], guess int, name []byte) int {
	for n := range fields {
		i := (guess + n) % len(fields)
		if string(name) == fields[i].name {
			return i
		}
	}
	return -1
}

// other passes a member without a meaning.
func (r *reader) other(name []byte, extra *map[string]json.RawMessage) error {
	text, err := r.value()
	if err != nil || extra == nil {
		return err
	}
	if *extra == nil {
		*extra = map[string]json.RawMessage{}
	}
	if _, twice := (*extra)[string(name)]; twice {
		return errTwice
	}
	(*extra)[string(name)] = bytes.Clone(text)
	return nil
}

// text, number and so on make the read function of a field from where it goes to.

func textField[T any](to func(*T) *string) func(*reader, *T) error {
	return func(r *reader, v *T) (err error) {
		*to(v), err = r.text()
		return err
	}
}

func numberField[T any](to func(*T) *uint64) func(*reader, *T) error {
	return func(r *reader, v *T) (err error) {
		*to(v), err = r.unsigned()
		return err
	}
}

func optionalField[T any](to func(*T) **uint64) func(*reader, *T) error {
	return func(r *reader, v *T) error {
		n, err := r.unsigned()
		*to(v) = &n
		return err
	}
}

func listField[T any](to func(*T) *[]string) func(*reader, *T) error {
	return func(r *reader, v *T) error {
		return r.array(func(int) error {
			s, err := r.text()
			*to(v) = append(*to(v), s)
			return err
		})
	}
}
