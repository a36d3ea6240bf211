package interop

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/frame"
)

// A verdict is what a codec makes of a body: the body re-encoded, or an error. A reorder buffer
// says what it delivers of a frame.
type verdict struct {
	Frame    string // hexadecimal
	Checksum uint64 // of the payload
	Deliver  []uint64
	Error    frame.Kind // empty when there is none
	Text     string
}

func (v verdict) body(t *testing.T) []byte {
	t.Helper()
	body, err := hex.DecodeString(v.Frame)
	require.NoError(t, err)
	return body
}

// verdictsOf asks the peer for its verdicts on bodies.
func verdictsOf(t *testing.T, p *peer, bodies [][]byte) []verdict {
	t.Helper()
	return judge(t, p, bodies, "verdicts")
}

// judge asks the peer in one of the modes that answer each body by a line.
func judge(t *testing.T, p *peer, bodies [][]byte, args ...string) []verdict {
	t.Helper()
	var in bytes.Buffer
	for _, body := range bodies {
		in.Write(binary.BigEndian.AppendUint32(nil, uint32(len(body))))
		in.Write(body)
	}
	lines := json.NewDecoder(bytes.NewReader(p.run(t, &in, args...)))
	verdicts := make([]verdict, len(bodies))
	for i := range verdicts {
		require.NoError(t, lines.Decode(&verdicts[i]), "verdict %d of %d", i, len(verdicts))
	}
	return verdicts
}

// ours is our verdict.
func ours(t *testing.T, body []byte) verdict {
	var f frame.Frame
	if err := frame.Decode(body, &f); err != nil {
		return verdict{Error: frame.KindOf(err), Text: err.Error()}
	}
	return verdict{Frame: hex.EncodeToString(encode(t, &f))}
}

// parse returns the body of a map with the entries given in hexadecimal.
func parse(t *testing.T, entries string) []byte {
	t.Helper()
	list := strings.Split(entries, ", ")
	body, err := hex.DecodeString(strings.ReplaceAll(strings.Join(list, ""), " ", ""))
	require.NoError(t, err)
	return slices.Concat([]byte{0xa0 | byte(len(list))}, body)
}

const (
	start     = "00 04, 01 07, 02 00"                                       // a HEARTBEAT
	chunk     = "00 04, 01 03, 02 00"                                       // needs index and checksum
	credit    = "00 04, 01 0d, 02 00"                                       // needs credit
	readable  = "accepted"                                                  // both accept it and read the same
	badID     = "00 04, 01 07, 02 4f 00112233445566778899aabbccddee"        // 15 bytes
	uuid      = "00 04, 01 07, 02 50 00112233445566778899aabbccddeeff, 0d " // before a routing id
	noVersion = "01 07, 02 00"
)

// Requirement: R2
func TestPeersAgreeOnBodies(t *testing.T) {
	cases := []struct {
		name, entries string
		want          frame.Kind // readable, or how both refuse it
	}{
		{"a heartbeat", start + ", 03 00", readable},
		{"seq may be absent", start, readable},
		{"keys in any order", "03 05, 02 00, 01 07, 00 04", readable},
		{"long heads", "18 00 19 0004, 01 1a 00000007, 02 1b 0000000000000000", readable},
		{"a text in pieces", start + ", 0b 7f 61 61 61 62 ff", readable},
		{"a payload in pieces", start + ", 06 5f 41 01 41 02 ff", readable},
		{"an empty payload", start + ", 06 40", readable},
		{"an empty meta", start + ", 05 a0", readable},
		{"an unknown key", start + ", 18 63 01", readable},
		{"an unknown negative key", start + ", 20 01", readable},
		{"an unknown text key", start + ", 61 61 01", readable},
		{"the last of equal keys counts", start + ", 03 01, 03 02", readable},
		{"a number as routing id", start + ", 0d 00", readable},
		{"false is not absent", start + ", 09 f4, 12 f4", readable},
		{"the largest checksum and credit", start + ", 10 1b ffffffffffffffff, 13 1b ffffffffffffffff", readable},
		{"a stream's end without a count", "00 04, 01 09, 02 00", readable},
		{"a null for content_type", start + ", 04 f6", readable},

		{"no version", noVersion, frame.ErrInvalidFrame},
		{"no type", "00 04, 02 00", frame.ErrInvalidFrame},
		{"the retired type 2", "00 04, 01 02, 02 00", frame.ErrInvalidFrame},
		{"type 16", "00 04, 01 10, 02 00", frame.ErrInvalidFrame},
		{"type 259", "00 04, 01 19 0103, 02 00", frame.ErrInvalidFrame},
		{"a text for the type", "00 04, 01 61 37, 02 00", frame.ErrInvalidFrame},
		{"no id", "00 04, 01 07", frame.ErrInvalidFrame},
		{"an id of 15 bytes", badID, frame.ErrInvalidFrame},
		{"a negative id", "00 04, 01 07, 02 20", frame.ErrInvalidFrame},
		{"a null id", "00 04, 01 07, 02 f6", frame.ErrInvalidFrame},
		{"a boolean id", "00 04, 01 07, 02 f5", frame.ErrInvalidFrame},
		{"a null routing id", uuid + "f6", frame.ErrInvalidFrame},
		{"a negative routing id", uuid + "20", frame.ErrInvalidFrame},
		{"a chunk without index", chunk + ", 10 00", frame.ErrInvalidFrame},
		{"a chunk without checksum", chunk + ", 0e 00", frame.ErrInvalidFrame},
		{"a credit frame without credit", credit, frame.ErrInvalidFrame},
		{"a map cut short", "00 04, 01", frame.ErrDecode},
		{"a string cut short", start + ", 06 5a ffffffff", frame.ErrDecode},
		{"a text that is not UTF-8", start + ", 04 61 ff", frame.ErrDecode},
		{"a reserved head", start + ", 04 1c", frame.ErrDecode},
	}
	bodies := make([][]byte, len(cases))
	for i, c := range cases {
		bodies[i] = parse(t, c.entries)
	}
	eachPeer(t, func(t *testing.T, p *peer) {
		for i, theirs := range verdictsOf(t, p, bodies) {
			ours := ours(t, bodies[i])
			if cases[i].want != readable {
				assert.Equal(t, cases[i].want, ours.Error, "%s: our verdict", cases[i].name)
				assert.Equal(t, cases[i].want, theirs.Error, "%s: their verdict", cases[i].name)
				continue
			}
			assert.Empty(t, ours.Error, "%s: our verdict: %s", cases[i].name, ours.Text)
			assert.Empty(t, theirs.Error, "%s: their verdict: %s", cases[i].name, theirs.Text)
			assert.Equal(t, ours.Frame, theirs.Frame, "%s: re-encoded", cases[i].name)
		}
	})
}

// What the package lets pass is refused here, or read as absent. Nobody writes such bodies; a
// difference that is gone is good news, and its line goes.
func TestPeersAreLessStrict(t *testing.T) {
	cases := []struct {
		name, entries string
		want          frame.Kind // how we refuse it; readable when we read it in another way
	}{
		{"a byte behind the map", start + ", 03 00, 00", frame.ErrDecode},
		{"version 3", "00 03, 01 07, 02 00", frame.ErrInvalidFrame},
		{"version 260", "00 19 0104, 01 07, 02 00", frame.ErrInvalidFrame},
		{"a text for the version", "00 61 34, 01 07, 02 00", frame.ErrInvalidFrame},
		{"a float for the type", "00 04, 01 f9 4700, 02 00", frame.ErrInvalidFrame},
		{"a negative seq", start + ", 03 20", frame.ErrInvalidFrame},
		{"a negative len", start + ", 07 20", frame.ErrInvalidFrame},
		{"a negative credit", credit + ", 13 20", frame.ErrInvalidFrame},
		{"a text for a chunk's index", chunk + ", 0e 61 30, 10 00", frame.ErrInvalidFrame},
		{"nesting of 65", start + ", 05 a1 61 61 " + strings.Repeat("81", 63) + "00", frame.ErrDecode},
		{"a number for content_type", start + ", 04 05", readable},
		{"a text for the payload", start + ", 06 61 61", readable},
		{"a list for meta", start + ", 05 81 01", readable},
		{"a number for eof", start + ", 09 01", readable},
		{"true as a key", start + ", f5 01", readable},
		{"a number as a name of meta", start + ", 05 a1 01 02", readable},
	}
	bodies := make([][]byte, len(cases))
	for i, c := range cases {
		bodies[i] = parse(t, c.entries)
	}
	bodies[0][0]-- // the last entry stands behind the map
	eachPeer(t, func(t *testing.T, p *peer) {
		for i, theirs := range verdictsOf(t, p, bodies) {
			ours := ours(t, bodies[i])
			assert.Empty(t, theirs.Error, "%s: their verdict: %s", cases[i].name, theirs.Text)
			if cases[i].want != readable {
				assert.Equal(t, cases[i].want, ours.Error, "%s: our verdict", cases[i].name)
				continue
			}
			assert.Empty(t, ours.Error, "%s: our verdict: %s", cases[i].name, ours.Text)
			assert.NotEqual(t, ours.Frame, theirs.Frame, "%s: re-encoded", cases[i].name)
		}
	})
}

// Version 5 of the protocol gave key 21 a meaning on STREAM_START. We pass over it, as version
// 4 says, and so must not lose it on the way: a relay passes on the bytes.
func TestKey21(t *testing.T) {
	const output = ", 15 61 78"
	bodies := [][]byte{parse(t, "00 04, 01 08, 02 00, 03 00"+output), parse(t, start+output)}
	for i, body := range bodies {
		assert.Empty(t, ours(t, body).Error, "body %d", i)
	}
	older := verdictsOf(t, findPeer(t, envV4), bodies)
	assert.Empty(t, older[0].Error)
	assert.Empty(t, older[1].Error)
	newest := verdictsOf(t, findPeer(t, envNewest), bodies)
	assert.Equal(t, bodies[0], newest[0].body(t))
	assert.Equal(t, frame.ErrInvalidFrame, newest[1].Error)
}

// Requirement: PO1
func TestPeersReadPolicy(t *testing.T) {
	words := []string{"offline", "no_telemetry", "full"}
	var bodies [][]byte
	for _, word := range words {
		bodies = append(bodies, encode(t, &frame.Frame{Type: frame.TypePolicy, ID: frame.Number(0), Meta: networkMeta(t, word)}))
	}
	bodies = append(bodies,
		encode(t, &frame.Frame{Type: frame.TypePolicy, ID: frame.Number(0), Meta: networkMeta(t, "sometimes")}),
		encode(t, &frame.Frame{Type: frame.TypePolicy, ID: frame.Number(0), Payload: []byte("{}")}),
	)
	t.Run("newest", func(t *testing.T) {
		verdicts := verdictsOf(t, findPeer(t, envNewest), bodies)
		for i := range words {
			require.Empty(t, verdicts[i].Error, verdicts[i].Text)
			assert.Equal(t, bodies[i], verdicts[i].body(t))
		}
		assert.Equal(t, frame.ErrInvalidFrame, verdicts[3].Error, "a word that names no policy")
		assert.Equal(t, frame.ErrInvalidFrame, verdicts[4].Error, "no meta")
	})
	t.Run("v4", func(t *testing.T) {
		for _, v := range verdictsOf(t, findPeer(t, envV4), bodies) {
			assert.Equal(t, frame.ErrInvalidFrame, v.Error, "a type that the peer does not know")
		}
	})
}

func TestPeersRefuseFramesAboveTheLimit(t *testing.T) {
	eachPeer(t, func(t *testing.T, p *peer) {
		body := encode(t, largestFrame(t, 1))
		cmd := p.command(t, "frames")
		cmd.Stdin = bytes.NewReader(append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...))
		var said bytes.Buffer
		cmd.Stderr = &said
		out, err := cmd.Output()
		require.Error(t, err)
		assert.Empty(t, out)
		var v verdict
		require.NoError(t, json.Unmarshal(said.Bytes(), &v), said.String())
		assert.Equal(t, frame.ErrFrameTooLarge, v.Error)
	})
}
