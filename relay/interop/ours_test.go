package interop

import "testing"

const envCartridge = "COSIM_INTEROP_CARTRIDGE" // set in a process of this test's program that is a cartridge

func (r *rig) newEngine(t *testing.T, socket string) engine {
	t.Helper()
	return startEngine(t, r, socket)
}

func (r *rig) newHost(t *testing.T, socket string, i int) stopper {
	t.Helper()
	return startHost(t, r, socket, i)
}
