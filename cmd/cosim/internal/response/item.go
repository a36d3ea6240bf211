package response

import (
	"github.com/fxamacker/cbor/v2"
)

// value returns what an item is: bytes, a text, or else its diagnostic notation.
func value(item []byte) (bytes []byte, text, other string) {
	if len(item) == 0 {
		return nil, "", ""
	}
	switch item[0] >> 5 { // its major type
	case 2:
		if cbor.Unmarshal(item, &bytes) == nil {
			return bytes, "", ""
		}
	case 3:
		if cbor.Unmarshal(item, &text) == nil {
			return nil, text, ""
		}
	}
	other, err := cbor.Diagnose(item)
	if err != nil {
		other = "no CBOR: " + err.Error()
	}
	return nil, "", other
}

// itemBytes returns an item as it is written.
func itemBytes(item []byte) []byte {
	bytes, text, other := value(item)
	switch {
	case bytes != nil:
		return bytes
	case other != "":
		return []byte(other + "\n")
	}
	return []byte(text + "\n")
}
