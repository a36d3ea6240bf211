package host

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/frame"
)

func TestStartsOnDemandAndEchoes(t *testing.T) {
	r := startRig(t, nil, "demo")
	require.Empty(t, r.processes(), "a process before the first request")
	r.echoes("demo")
	r.idle()
	require.NoError(t, r.conn.Close())
	require.NoError(t, <-r.ran)
	r.noProcesses()
}

func TestDies(t *testing.T) {
	r := startRig(t, nil, "demo", "other")
	r.echoes("other")
	q := r.req(capOf("die") + ";of=demo")
	f := q.err(codeDied, frame.AttributionEnvironment)
	require.Equal(t, `cartridge "demo" 1.2.3 exited with status 3; last lines of its stderr: out of luck`, message(f))
	r.echoes("other")
	r.echoes("demo")
}
