package interop

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A cartridge that dies takes its request with it, and is started again for the next. Their host
// says so in an ERR without routing id, which their own switch sends back to it.
func TestACartridgeDiesBehindOurSwitch(t *testing.T) {
	t.Parallel()
	for _, by := range []side{byUs, byThem} {
		t.Run(string(by)+" host", func(t *testing.T) {
			t.Parallel()
			r := assemble(t, &rig{parts: parts{byUs, by, byThem}, peer: findPeer(t, envV4)})
			r.engine.caps(t)
			a := r.engine.call(t, invocation{Cap: capURN("die"), Media: media, Body: []byte("x")})
			assert.Equal(t, []string{"err", "CARTRIDGE_DIED", "environment"}, []string{a.Terminal, a.Code, a.Class}, a)
			r.stream(t)
			r.close(t)
		})
	}
}
