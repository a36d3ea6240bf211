package host

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/frame"
)

// What comes back of the nonce may be cut in another way, as raw bytes or as byte strings.
func TestEcho(t *testing.T) {
	for _, c := range []struct {
		name     string
		payloads []string
		ok       bool
	}{
		{"as it was sent", []string{"\x47\x66bifaci"}, true},
		{"raw, in two pieces", []string{"\x47\x66bi", "faci"}, true},
		{"two byte strings", []string{"\x43\x66bi", "\x44faci"}, true},
		{"with an empty one", []string{"\x40", "\x47\x66bifaci"}, true},
		{"of indefinite length", []string{"\x5f\x43\x66bi\x44faci\xff"}, true},
		{"nothing", nil, false},
		{"without the byte string around it", []string{"\x66bifaci"}, false},
		{"another text", []string{"\x47\x66bifacj"}, false},
		{"too much", []string{"\x47\x66bifaci", "\x41x"}, false},
		{"an array", []string{"\x87\x18\x66\x18\x62\x18\x69\x18\x66\x18\x61\x18\x63\x18\x69"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := echo{wrapped: true}
			for _, p := range c.payloads {
				require.NoError(t, e.add([]byte(p)))
			}
			err := e.check()
			if c.ok {
				require.NoError(t, err)
			} else {
				require.ErrorIs(t, err, frame.ErrProtocol)
			}
		})
	}
	e := echo{wrapped: true}
	require.NoError(t, e.add(make([]byte, maxEcho)))
	require.ErrorIs(t, e.add([]byte{0}), frame.ErrProtocol)
}
