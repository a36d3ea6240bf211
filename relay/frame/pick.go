package frame

import (
	"bytes"
	"strconv"
)

// pick stores in values what stands under the names, the zero Value where nothing does. It goes
// over the map once.
func (m Meta) pick(names []string, values []Value) {
	for e := m.entries(); e.next(); {
		found, ok := e.name.Text()
		if !ok {
			continue
		}
		for i, name := range names {
			if string(found) == name {
				values[i] = e.value
				break
			}
		}
	}
}

// notBlank returns a text that holds more than white space, else nil.
func (v Value) notBlank() []byte {
	text, _ := v.Text()
	if blank(text) {
		return nil
	}
	return text
}

func blank(text []byte) bool { return len(bytes.TrimSpace(text)) == 0 }

// integerText returns an integer in decimal, for messages.
func (v Value) integerText() string {
	if n, ok := v.Uint(); ok {
		return strconv.FormatUint(n, 10)
	}
	if n, ok := v.Int(); ok {
		return strconv.FormatInt(n, 10)
	}
	return "below -2^63"
}

// optionalUint returns an integer that is not negative; anything else is absent.
func (v Value) optionalUint() Optional[uint64] {
	n, ok := v.Uint()
	return Optional[uint64]{n, ok}
}

// optionalInt returns an integer that an int64 can hold; anything else is absent.
func (v Value) optionalInt() Optional[int64] {
	n, ok := v.Int()
	return Optional[int64]{n, ok}
}

// optionalNumber returns a number of any kind; anything else is absent.
func (v Value) optionalNumber() Optional[float64] {
	n, ok := v.Number()
	return Optional[float64]{n, ok}
}

// want returns an error of a kind when the frame is not of the type.
func (f *Frame) want(t Type, kind Kind) error {
	if f.Type != t {
		return Errorf(kind, "a %v frame where a %v frame is due", f.Type, t)
	}
	return nil
}
