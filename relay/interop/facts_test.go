package interop

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/frame"
)

// Requirement: R2
func TestPeersCountAsWeDo(t *testing.T) {
	eachPeer(t, func(t *testing.T, p *peer) {
		t.Logf("capdag %s, protocol version %d", p.facts.Package, p.facts.Version)
		for name, theirs := range p.facts.Types {
			ours, ok := frame.ParseType(name)
			if !assert.True(t, ok, "ParseType(%q) finds no type", name) {
				continue
			}
			assert.Equal(t, theirs.Number, int(ours), "number of %s", name)
			assert.Equal(t, theirs.Flow, ours.Flow(), "%s.Flow()", name)
			assert.Equal(t, theirs.Terminal, ours.Terminal(), "%s.Terminal()", name)
		}
		for n := range 256 {
			if ours := frame.Type(n); ours.Valid() && ours != frame.TypePolicy {
				assert.Contains(t, p.facts.Types, ours.String())
			}
		}
		ours := frame.DefaultLimits()
		assert.Equal(t, map[string]int{
			"max_frame": int(ours.MaxFrame), "max_chunk": int(ours.MaxChunk),
			"max_reorder_buffer": int(ours.MaxReorderBuffer), "initial_credit": int(ours.InitialCredit),
		}, p.facts.Limits)
		assert.Equal(t, frame.HardMaxFrame, p.facts.HardMaxFrame)
	})
}

func TestTheOlderPeerSpeaksOurVersion(t *testing.T) {
	p := findPeer(t, envV4)
	assert.Equal(t, frame.Version, p.facts.Version)
	assert.False(t, p.knowsPolicy())
}

// Requirement: PO1
func TestTheNewestPeerKnowsPolicyByOurNumber(t *testing.T) {
	p := findPeer(t, envNewest)
	require.True(t, p.knowsPolicy())
	assert.Equal(t, p.facts.Types["policy"].Number, int(frame.TypePolicy))
	assert.False(t, p.facts.Types["policy"].Flow)
}
