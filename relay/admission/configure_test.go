package admission_test

import (
	"errors"
	"reflect"
	"testing"
	"testing/synctest"

	"github.com/cosim-go/cosim/relay/admission"
	"github.com/cosim-go/cosim/relay/manifest"
)

func TestConfigureKeepsWhoIsInAndWhoWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newCrowd(t, poolsOf(map[string]bounds{capA: {n: 2}, "all": {}}))
		for _, name := range []string{"1", "2", "3", "4", "5"} {
			w.ask(name, capA)
		}
		w.want("1", "2")
		w.c.Configure(poolsOf(map[string]bounds{capA: {}, capB: {}, "new": {1, []string{capA, capB}}, "all": {}}))
		w.want()
		p := w.c.Pools()
		if got := p["new"]; got.Active != 2 || got.Queued != 3 {
			t.Errorf("new = %+v, want 2 active, 3 queued", got)
		}
		if got := p[capA]; got.Active != 2 || got.Queued != 3 {
			t.Errorf("own pool = %+v, want 2 active, 3 queued", got)
		}
		w.release("1")
		w.want() // one is still in
		w.release("2")
		w.want("3")
		w.c.Configure(poolsOf(map[string]bounds{capA: {}, "all": {n: 2}}))
		w.want("4")
	})
}

func TestCapThatLosesItsPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newCrowd(t, poolsOf(map[string]bounds{capA: {n: 1}, capB: {}, "all": {n: 2}}))
		w.ask("a1", capA)
		w.ask("a2", capA)
		w.ask("b1", capB)
		w.ask("b2", capB)
		w.want("a1", "b1")
		w.c.Configure(poolsOf(map[string]bounds{capB: {}, "all": {n: 2}}))
		w.wantErr("a2", admission.ErrNoPool)
		w.want() // a1 still counts
		w.c.Configure(poolsOf(map[string]bounds{capA: {n: 1}, capB: {}, "all": {n: 2}}))
		w.ask("a3", capA)
		w.want() // its pool has a1 again
		w.release("a1")
		w.want("b2")
		w.c.Configure(nil)
		w.wantErr("a3", admission.ErrNoPool)
		w.release("b1")
		w.release("b2")
		w.c.Configure(poolsOf(map[string]bounds{capA: {n: 1}, "all": {n: 1}}))
		w.ask("a4", capA)
		w.want("a4")
	})
}

func TestPoolsTellWhoWaitsWhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := poolsOf(map[string]bounds{capA: {n: 1}, capB: {}, "gpu": {2, []string{capA, capB}}, "all": {0, []string{capA, capB}}})
		w := newCrowd(t, p)
		if got := w.c.Pools(); !reflect.DeepEqual(got, p) {
			t.Errorf("Pools = %+v, want %+v", got, p)
		}
		for name, cap := range map[string]string{"a1": capA, "a2": capA, "b1": capB} {
			w.ask(name, cap)
		}
		w.ask("b2", capB)
		got := w.c.Pools()
		for name, want := range map[string][2]uint64{capA: {1, 1}, capB: {1, 1}, "gpu": {2, 1}, "all": {2, 0}} {
			if s := got[name]; s.Active != want[0] || s.Queued != want[1] {
				t.Errorf("%s: %d active, %d queued, want %v", name, s.Active, s.Queued, want)
			}
		}
		got["all"].Caps[0] = "changed"
		if w.c.Pools()["all"].Caps[0] != capA {
			t.Error("Pools lends what it keeps")
		}
		w.cancel["a2"]()
		w.cancel["b2"]()
	})
}

func TestBoundsAreTheSmallerOfConfiguredAndAvailable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newCrowd(t, poolsOf(map[string]bounds{capA: {}, "all": {n: 3}}))
		if err := w.c.SetAvailable("all", 1); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"1", "2", "3", "4"} {
			w.ask(name, capA)
		}
		w.want("1")
		if got := w.c.Pools()["all"]; got.Available == nil || *got.Available != 1 || got.Configured != 3 || got.Declared != 3 {
			t.Errorf("all = %+v", got)
		}
		w.c.SetAvailable("all", 0)
		w.want("2", "3")
		w.c.SetConfigured(map[string]uint64{"all": 0})
		w.want("4")
		if got := w.c.Pools()["all"]; got.Available != nil || got.Configured != 0 || got.Declared != 3 {
			t.Errorf("all = %+v", got)
		}
	})
}

func TestUnknownPoolRefusesTheLot(t *testing.T) {
	c := admission.New(poolsOf(map[string]bounds{capA: {n: 1}, "all": {}}))
	before := c.Pools()
	for _, numbers := range []map[string]uint64{
		{capA: 5, "gpu": 1}, {"all": 5, capB: 1}, {"all": 5, "cap:in=what": 1}, {"all": 5, "All": 1},
	} {
		if err := c.SetConfigured(numbers); !errors.Is(err, admission.ErrUnknownPool) {
			t.Errorf("SetConfigured(%v) = %v, want %v", numbers, err, admission.ErrUnknownPool)
		}
	}
	if err := c.SetConfigured(map[string]uint64{capA: 5, "cap:effect=none;a": 1}); err == nil {
		t.Error("SetConfigured took two numbers for one pool")
	}
	if err := c.SetAvailable("gpu", 1); !errors.Is(err, admission.ErrUnknownPool) {
		t.Errorf("SetAvailable = %v, want %v", err, admission.ErrUnknownPool)
	}
	if got := c.Pools(); !reflect.DeepEqual(got, before) {
		t.Errorf("Pools = %+v, want %+v", got, before)
	}
}

// A switch gives one request at a time to a cartridge that does not run, and what it has room for after that.
func TestColdCartridge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, err := manifest.NewCap(capA, "a")
		if err != nil {
			t.Fatal(err)
		}
		r := manifest.Record{Groups: []manifest.CapGroup{{Caps: []manifest.Cap{a}}}, Stats: &manifest.RuntimeStats{}}
		w := newCrowd(t, r.AdmissionPools())
		for _, name := range []string{"1", "2", "3", "4"} {
			w.ask(name, capA)
		}
		w.want("1")
		r.Stats.Running, r.Stats.Pools = true, poolsOf(map[string]bounds{capA: {n: 3}, "all": {}})
		w.c.Configure(r.AdmissionPools())
		w.want("2", "3")
		w.release("1")
		w.want("4")
	})
}

func TestMemberThatIsListedTwiceCountsOnce(t *testing.T) {
	c := admission.New(poolsOf(map[string]bounds{capA: {}, "p": {2, []string{capA, capA}}, "all": {}}))
	for range 2 {
		if _, ok := c.TryAcquire(capA); !ok {
			t.Error("no place in a pool of two")
		}
	}
	if got := c.Pools()["p"].Active; got != 2 {
		t.Errorf("%d active, want 2", got)
	}
}

func TestControllerKeepsNoPools(t *testing.T) {
	n := uint64(1)
	p := manifest.Pools{capA: {Available: &n}, "all": {Caps: []string{capA}}}
	c := admission.New(p)
	n = 9
	p["all"].Caps[0] = "changed"
	delete(p, capA)
	if got := c.Pools(); got[capA].Effective() != 1 || got["all"].Caps[0] != capA {
		t.Errorf("Pools = %+v", got)
	}
}
