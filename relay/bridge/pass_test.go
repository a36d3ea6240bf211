package bridge_test

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/relaytest"
)

const (
	oddID       = "500a1b2c3d4e5f408192a3b4c5d6e7f809"
	oddIDPieces = "5f480a1b2c3d4e5f40814892a3b4c5d6e7f809ff"
	oddChunk    = "0e00 101bcbf29ce484222325"
)

// oddBodies are frames that an encoder of this module would write in another way. All but the
// last ones are number 0 of their flow.
var oddBodies = []struct{ name, hex string }{
	{"unknown keys", "a8 0004 0101 02" + oddID + " 0300 0a63636170 1863 83010203 6178 f6 20 f5"},
	{"keys in odd order", "a5 0a63636170 02" + oddID + " 0101 0300 0004"},
	{"integers longer than need be", "a5 18001804 1900011b0000000000000001 02" + oddID + " 1a0000000300 0a63636170"},
	{"indefinite lengths", "bf 0004 0103 02" + oddIDPieces + " 0300 065f4268694121ff 0b7f636172676130ff " + oddChunk + " ff"},
	{"duplicate keys", "a6 0004 0103 0101 02" + oddID + " 0307 0300"},
	{"floats of every width", "a5 0004 0105 02" + oddID + " 0300 05a4 6161f93c00 6162fa3f800000 6163fb3ff0000000000000 6164f97e00"},
	{"meta in odd order", "a5 0004 0101 02" + oddID + " 0300 05a3 6162 01 6161 f7 07 bfff"},
	{"known keys with other kinds", "a7 0004 0101 02" + oddID + " 0300 0405 0661 78 0a40"},
	{"no number", "a3 0004 0101 02" + oddID},
	{"an id that peers cannot read", "a4 0004 0101 021bffffffffffffffff 0300"},
	{"credit of 64 bits in odd order", "a5 131bffffffffffffffff 1818a0 010d 02" + oddID + " 0004"},
	{"policy with unknown keys", "a6 0004 010f 0200 0300 0643010203 1864 c07818323032362d31322d30315430303a30303a30302e30303030"},
}

// oddBytes returns the odd bodies as they travel, each in a flow of its own.
func oddBytes(t *testing.T) (frames [][]byte, names []string) {
	t.Helper()
	for _, odd := range oddBodies {
		body, err := hex.DecodeString(strings.ReplaceAll(odd.hex, " ", ""))
		if err != nil {
			t.Fatal(odd.name, err)
		}
		if _, err := frame.Check(body); err != nil {
			t.Fatalf("%s: %v", odd.name, err)
		}
		frames, names = append(frames, prefixed(body)), append(names, odd.name)
	}
	return frames, names
}

// Requirements: R1, R2
func TestFramesPassByteForByte(t *testing.T) {
	frames, names := oddBytes(t)
	for i, b := range frames {
		t.Run(names[i], func(t *testing.T) {
			bothWays(t, func(t *testing.T, s *span, from, to relaytest.Conn) {
				if strings.HasPrefix(names[i], "policy") && from == s.host {
					t.Skip("a policy does not pass from the host")
				}
				write(t, from, b)
				expect(t, to, b)
			})
		})
	}
}

// Requirement: R2
func TestFramesPassByteForByteWhenTheyWereHeld(t *testing.T) {
	body, err := hex.DecodeString(strings.ReplaceAll(
		"bf 1863f6 "+oddChunk+" 02"+oddIDPieces+" 190003190001 0103 05bf 6161f93c00 ff 00041840bfff ff", " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	first := wire(t, frame.NewReq(rid, []byte("cap:x")))
	bothWays(t, func(t *testing.T, s *span, from, to relaytest.Conn) {
		write(t, from, prefixed(body))
		write(t, from, first)
		expect(t, to, append(first, prefixed(body)...))
	})
}

// Requirements: R1, R2
func TestGoldenFramesPassByteForByte(t *testing.T) {
	passed := 0
	vectors := loadVectors(t)
	for _, v := range append(vectors.Valid, vectors.Provisional...) {
		head, err := frame.Check(v.Hex)
		if err != nil {
			t.Fatal(err)
		}
		if head.Type == frame.TypeRelayNotify || head.Type == frame.TypeRelayState || head.Type.Flow() && head.Seq > frame.DefaultMaxHeld {
			continue
		}
		passed++
		t.Run(v.Name, func(t *testing.T) {
			bothWays(t, func(t *testing.T, s *span, from, to relaytest.Conn) {
				if head.Type == frame.TypePolicy && from == s.host {
					t.Skip("a policy does not pass from the host")
				}
				var before []byte
				for seq := range head.Seq {
					if head.Type.Flow() {
						before = append(before, wire(t, frame.Frame{Type: frame.TypeReq, ID: head.ID, RoutingID: head.RoutingID, Seq: seq})...)
					}
				}
				all := append(before, prefixed(v.Hex)...)
				write(t, from, all)
				expect(t, to, all)
			})
		})
	}
	if passed < len(vectors.Valid)/2 {
		t.Errorf("%d of %d frames were sent", passed, len(vectors.Valid))
	}
}

// Requirements: R1, R2
func TestFramesOfEverySizePassInOnePieceAndInMany(t *testing.T) {
	var frames []frame.Frame
	for i, size := range []int{0, 1, 60, 1 << 10, 32<<10 - 90, 32 << 10, 64<<10 - 80, 64 << 10, 200 << 10, 1 << 20, 3, 70 << 10, 9} {
		frames = append(frames, chunk(uint64(i), size))
	}
	all := wire(t, append(frames, bodyEnd(uint64(len(frames))))...)
	for _, piece := range []int{len(all), 64 << 10, 4099} {
		bothWays(t, func(t *testing.T, s *span, from, to relaytest.Conn) {
			torn := relaytest.Inject(from, relaytest.Faults{WriteSize: piece})
			go torn.Write(all)
			expect(t, to, all)
		})
	}
}

// Requirement: R2
func TestFramesPassWhenBytesComeOneByOne(t *testing.T) {
	all := wire(t, append(control(t), chunk(1, 10), req(0), bodyEnd(2))...)
	want := wire(t, append(control(t), req(0), chunk(1, 10), bodyEnd(2))...)
	bothWays(t, func(t *testing.T, s *span, from, to relaytest.Conn) {
		for i := range all {
			write(t, from, all[i:i+1])
		}
		expect(t, to, want)
	})
}

func TestFramesAboveTheLimitEndTheRelay(t *testing.T) {
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			s := start(t, nil, nil)
			write(t, w.from(s), []byte{0, 0x38, 0, 1})
			if err := s.wait(); frame.KindOf(err) != frame.ErrFrameTooLarge {
				t.Errorf("Run = %v, want kind %q", err, frame.ErrFrameTooLarge)
			}
			expectNothing(t, w.to(s))
		})
	}
}
