package host

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/manifest"
)

// dir returns the registration of a cartridge of the roster.
func (r *rig) dir(behaviour string) Registration {
	reg := r.registration(behaviour)
	reg.Dir = true
	return reg
}

// sync replaces the roster.
func (r *rig) sync(regs ...Registration) {
	r.t.Helper()
	require.NoError(r.t, r.h.SyncRoster(r.t.Context(), regs, nil))
}

// ids returns the ids in an inventory.
func ids(records []manifest.Record) (all []string) {
	for _, r := range records {
		all = append(all, r.Install.ID)
	}
	return all
}

// The roster brings new cartridges, keeps those that are in it with their processes, and takes the others out.
func TestRosterSync(t *testing.T) {
	r := startRig(t, nil, "fixed")
	a, b := r.dir("a"), r.dir("b")
	static := manifest.Record{Install: install("elsewhere"), Stats: &manifest.RuntimeStats{Pools: manifest.Pools{}}}
	require.NoError(t, r.h.SyncRoster(t.Context(), []Registration{a, b}, []manifest.Record{static}))
	n := r.note(func(n *manifest.Inventory) bool { return len(n.Records) == 4 })
	require.Equal(t, []string{"fixed", "a", "b", "elsewhere"}, ids(n.Records))
	for _, name := range []string{"fixed", "a", "b"} {
		r.echoes(name)
	}
	was := *r.h.Inventory()[1].Stats.PID

	r.sync(a, r.dir("c")) // b, which is idle, leaves at once
	n = r.note(func(n *manifest.Inventory) bool { return len(n.Records) == 3 && n.Records[2].Install.ID == "c" })
	require.Equal(t, []string{"fixed", "a", "c"}, ids(n.Records))
	require.Equal(t, "b", r.event(Stopped).Install.ID)
	require.Equal(t, was, *r.h.Inventory()[1].Stats.PID)
	r.req(capOf("echo")+";of=b").err(codeNoHandler, frame.AttributionEnvironment)
	r.req(capOf("echo"), meta("target_cartridge", "b")).err(codeNotFound, frame.AttributionEnvironment)
	r.echoes("a")
	r.echoes("c")

	r.sync()
	require.Equal(t, []string{"fixed"}, ids(r.h.Inventory()))
	r.echoes("fixed")
	r.event(Stopped)
	r.event(Stopped)
	require.Eventually(t, func() bool { return len(r.processes()) == 1 }, patience, time.Millisecond)
}

// A cartridge that leaves the roster ends its requests first. It cannot be asked for meanwhile, and can come back.
func TestRosterDrain(t *testing.T) {
	r := startRig(t, &Options{Republish: 50 * time.Millisecond}, "good")
	a := r.dir("a")
	r.sync(a)
	q := r.req(capOf("echo") + ";of=a")
	r.event(Started)
	was := *r.h.Inventory()[1].Stats.PID
	r.sync()
	require.Equal(t, []string{"good"}, ids(r.h.Inventory()))
	r.req(capOf("echo")+";of=a").err(codeNoHandler, frame.AttributionEnvironment)

	r.sync(a) // back in service, the same process
	require.Equal(t, was, *r.h.Inventory()[1].Stats.PID)
	r.echoes("a")

	r.sync()
	q.body("x").end()
	require.Equal(t, "a", r.event(Stopped).Install.ID)
	require.Eventually(t, func() bool { return len(r.processes()) == 0 }, patience, time.Millisecond)
	r.echoes("good")
}

// What does not end in time is ended.
func TestRosterDrainLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startBubble(t, nil, "good")
		a := r.served("a")
		a.Dir = true
		r.sync(a)
		q := r.req(capOf("never") + ";of=a")
		r.event(Started)
		r.sync()
		begun := time.Now()
		f := q.err(codeRetired, frame.AttributionEnvironment)
		require.Contains(t, message(f), "is not in the roster any more")
		require.GreaterOrEqual(t, time.Since(begun), 600*time.Second)
		require.Less(t, time.Since(begun), 605*time.Second)
		require.Equal(t, "a", r.event(Stopped).Install.ID)
		r.echoes("good")
	})
}

// A failed start is final until the roster brings another install.
func TestRosterBringsNewInstall(t *testing.T) {
	r := startRig(t, nil, "good")
	bad := r.dir("demo/exit")
	r.sync(bad)
	r.req(capOf("echo")+";of=demo").err(codeSpawnFailed, frame.AttributionEnvironment)
	r.sync(bad)
	require.NotNil(t, r.h.Inventory()[1].AttachmentError)
	mended := r.dir("demo")
	mended.Install.SHA256 = "9f86d081"
	r.sync(mended)
	require.Nil(t, r.h.Inventory()[1].AttachmentError)
	r.echoes("demo")
}

// A roster that is wrong changes nothing.
func TestRosterRefused(t *testing.T) {
	r := startRig(t, nil, "good")
	a := r.dir("a")
	r.sync(a)
	blind := r.dir("b")
	blind.Groups = []manifest.CapGroup{{Name: "default", Caps: []manifest.Cap{mustCap("cap:x")}}}
	for _, wrong := range [][]Registration{{a, a}, {blind}, {{Install: install("c"), Groups: a.Groups}}, {{Groups: a.Groups, Provider: a.Provider}}} {
		require.Error(t, r.h.SyncRoster(t.Context(), wrong, nil))
	}
	require.Equal(t, []string{"good", "a"}, ids(r.h.Inventory()))
	require.Error(t, r.h.Register(blind))
}
