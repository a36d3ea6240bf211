package admission_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosim-go/cosim/relay/admission"
)

func TestWaitersOutlastAShortOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newCrowd(t, poolsOf(map[string]bounds{capA: {}, "all": {}}))
		w.c.Suspend()
		w.ask("1", capA)
		w.want()
		if _, ok := w.c.TryAcquire(capA); ok {
			t.Error("TryAcquire got a place in an outage")
		}
		time.Sleep(admission.DefaultGrace - 1)
		w.ask("2", capA)
		w.c.Resume()
		w.want("1", "2")
		time.Sleep(time.Second)
		w.ask("3", capA) // the timer of the outage has gone with it
		w.want("3")
	})
}

// A second loss within an outage does not make it longer.
func TestGraceCountsFromTheStartOfTheOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newCrowd(t, poolsOf(map[string]bounds{capA: {}, "all": {}}))
		w.c.Suspend()
		w.ask("1", capA)
		time.Sleep(40 * time.Second)
		w.c.Suspend()
		w.ask("2", capA)
		time.Sleep(20*time.Second - 1)
		w.wantNoErr()
		time.Sleep(time.Nanosecond)
		w.wantErr("1", admission.ErrUnavailable)
		w.wantErr("2", admission.ErrUnavailable)
		w.ask("3", capA)
		w.wantErr("3", admission.ErrUnavailable)
		w.c.Resume()
		w.ask("4", capA)
		w.want("4")
	})
}

func TestEachOutageHasItsOwnGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newCrowd(t, poolsOf(map[string]bounds{capA: {}, "all": {}}))
		w.c.Grace = 10 * time.Second
		w.c.Suspend()
		time.Sleep(9 * time.Second)
		w.c.Resume()
		w.c.Suspend()
		w.ask("1", capA)
		time.Sleep(9 * time.Second)
		w.want()
		w.wantNoErr()
		time.Sleep(time.Second)
		w.wantErr("1", admission.ErrUnavailable)
	})
}

// Places that are given back in an outage are taken when it ends.
func TestReleasesInAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newCrowd(t, poolsOf(map[string]bounds{capA: {}, "all": {n: 1}}))
		w.ask("1", capA)
		w.ask("2", capA)
		w.ask("3", capA)
		w.want("1")
		w.c.Suspend()
		w.release("1")
		w.want()
		if err := w.c.SetConfigured(map[string]uint64{"all": 2}); err != nil {
			t.Fatal(err)
		}
		w.want()
		w.cancel["2"]()
		w.want()
		w.c.Resume()
		w.want("3")
	})
}
