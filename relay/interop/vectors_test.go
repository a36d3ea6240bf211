package interop

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/frame"
)

// A golden is an entry of the golden frames.
type golden struct {
	Name, Hex string
	Class     frame.Kind // of what is invalid
}

func (g golden) body(t *testing.T) []byte {
	t.Helper()
	body, err := hex.DecodeString(g.Hex)
	require.NoError(t, err)
	return body
}

func goldenFrames(t *testing.T) (valid, provisional, invalid []golden) {
	t.Helper()
	text, err := os.ReadFile("../frame/testdata/frames.json")
	require.NoError(t, err)
	var file struct{ Valid, Provisional, Invalid []golden }
	require.NoError(t, json.Unmarshal(text, &file))
	require.NotEmpty(t, file.Valid)
	require.NotEmpty(t, file.Invalid)
	return file.Valid, file.Provisional, file.Invalid
}

// Each goes from our encoder through the peer's decoder and encoder to our decoder.
//
// Requirement: R2
func TestGoldenFramesSurviveThePeer(t *testing.T) {
	valid, _, _ := goldenFrames(t)
	frames := make([]frame.Frame, len(valid))
	bodies := make([][]byte, len(valid))
	for i, g := range valid {
		require.NoError(t, frame.Decode(g.body(t), &frames[i]), g.Name)
		bodies[i] = encode(t, &frames[i])
	}
	eachPeer(t, func(t *testing.T, p *peer) {
		for i, v := range verdictsOf(t, p, bodies) {
			require.Empty(t, v.Error, "%s: %s", valid[i].Name, v.Text)
			var ours, theirs frame.Frame
			require.NoError(t, frame.Decode(bodies[i], &ours), valid[i].Name)
			require.NoError(t, frame.Decode(v.body(t), &theirs), valid[i].Name)
			requireSameMeta(t, valid[i].Name, ours.Meta, theirs.Meta)
			ours.Meta, theirs.Meta = frame.Meta{}, frame.Meta{}
			require.Equal(t, ours, theirs, valid[i].Name)
		}
	})
}

// requireSameMeta compares values as they were written, but floats by what they say: the peer
// writes each in 64 bits, we as it came.
func requireSameMeta(t *testing.T, name string, ours, theirs frame.Meta) {
	t.Helper()
	require.Equal(t, ours.IsSet(), theirs.IsSet(), name)
	count := 0
	for key, value := range theirs.All() {
		count++
		mine, ok := ours.Lookup(string(key))
		require.True(t, ok, "%s: meta %q", name, key)
		if float, ok := mine.Float(); ok {
			other, ok := value.Float()
			require.True(t, ok && (float == other || float != float && other != other), "%s: meta %q: %v, want %v", name, key, other, float)
			continue
		}
		require.True(t, bytes.Equal(mine.Raw(), value.Raw()), "%s: meta %q: %x, want %x", name, key, value.Raw(), mine.Raw())
	}
	for range ours.All() {
		count--
	}
	require.Zero(t, count, "%s: entries of meta", name)
}

// Golden frames that are invalid and that the peers take; TestPeersAreLessStrict has the same
// kinds of bodies with reasons.
var taken = map[string]bool{
	"trailing_byte": true, "trailing_second_map": true, "wrong_version_and_trailing_byte": true,
	"version_text": true, "version_3": true, "version_0": true, "version_260": true, "version_negative": true,
	"type_float": true, "chunk_index_text": true, "chunk_checksum_bytes": true, "chunk_checksum_float": true,
	"chunk_index_negative": true, "seq_negative": true, "credit_negative": true, "len_negative_on_heartbeat": true,
	"meta_nested_300_deep": true, "meta_nested_to_level_65": true,
}

func TestPeersRefuseInvalidGoldenFrames(t *testing.T) {
	_, _, invalid := goldenFrames(t)
	bodies := make([][]byte, len(invalid))
	for i, g := range invalid {
		bodies[i] = g.body(t)
	}
	eachPeer(t, func(t *testing.T, p *peer) {
		for i, v := range verdictsOf(t, p, bodies) {
			want := invalid[i].Class
			if taken[invalid[i].Name] {
				want = ""
			}
			assert.Equal(t, want, v.Error, "%s: %s", invalid[i].Name, v.Text)
		}
	})
}

// The golden policies have a payload and no meta, where the newest peer wants one that names a
// policy, and the older one knows no policy at all.
func TestPeersRefuseGoldenPolicies(t *testing.T) {
	_, provisional, _ := goldenFrames(t)
	bodies := make([][]byte, len(provisional))
	for i, g := range provisional {
		bodies[i] = g.body(t)
	}
	eachPeer(t, func(t *testing.T, p *peer) {
		for i, v := range verdictsOf(t, p, bodies) {
			assert.Equal(t, frame.ErrInvalidFrame, v.Error, "%s: %s", provisional[i].Name, v.Text)
		}
	})
}
