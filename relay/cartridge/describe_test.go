package cartridge_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/caps"
	"github.com/cosim-go/cosim/relay/cartridge"
	"github.com/cosim-go/cosim/relay/manifest"
)

// Hosts of other makes ask for more than a title of each cap, identity too.
func TestIdentityCanBeDescribed(t *testing.T) {
	described, err := manifest.NewCap(caps.Identity, "the same")
	require.NoError(t, err)
	described.Extra = map[string]json.RawMessage{"outputs": json.RawMessage(`[]`)}
	c := cartridge.New("a", "1", nil)
	c.HandleCap(described, nil)
	require.NoError(t, c.Err())
	m := c.Manifest()
	require.Equal(t, []manifest.Cap{described}, m.Groups[0].Caps)
}
