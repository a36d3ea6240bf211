package frame_test

import (
	"errors"
	"reflect"
	"testing"

	"github.com/cosim-go/cosim/relay/frame"
)

func TestHeartbeat(t *testing.T) {
	n := frame.Some[uint64]
	for _, want := range []frame.Heartbeat{
		{},
		{DesiredCapacities: []byte(`{"all":4}`), ResourceState: []byte{}},
		{Pools: []byte("{}"), HandlerCapacity: n(0), FootprintMB: n(1), RSSMB: n(2), Drops: n(3), Stragglers: n(4), Overruns: n(5)},
	} {
		f, err := frame.NewHeartbeat(sampleID, want)
		if err != nil {
			t.Fatal(err)
		}
		if reflect.DeepEqual(want, frame.Heartbeat{}) && f.Meta.IsSet() {
			t.Error("a heartbeat that says nothing has a meta")
		}
		got, err := decoded(t, encoded(t, &f)).Heartbeat()
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("Heartbeat = %+v, %v, want %+v", got, err, want)
		}
	}
}

func TestHeartbeatPassesOverWrongKinds(t *testing.T) {
	var b frame.MetaBuilder
	b.Text("desired_capacities", "{}")
	b.Text("resource_state", "{}")
	b.Int("rss_mb", -1)
	b.Float("drops_total", 1)
	f := frame.Frame{Type: frame.TypeHeartbeat, Meta: built(t, &b)}
	if got, err := f.Heartbeat(); err != nil || !reflect.DeepEqual(got, frame.Heartbeat{}) {
		t.Errorf("Heartbeat = %+v, %v, want none", got, err)
	}
}

func TestHeartbeatRefuses(t *testing.T) {
	var b frame.MetaBuilder
	b.Text("pools", "{}")
	f := frame.Frame{Type: frame.TypeHeartbeat, Meta: built(t, &b)}
	if _, err := f.Heartbeat(); !errors.Is(err, frame.ErrProtocol) {
		t.Errorf("Heartbeat with pools as text = %v, want protocol", err)
	}
	end := frame.NewBodyEnd(sampleID)
	if _, err := end.Heartbeat(); !errors.Is(err, frame.ErrProtocol) {
		t.Errorf("Heartbeat of an end = %v, want protocol", err)
	}
	if _, err := frame.NewHeartbeat(sampleID, frame.Heartbeat{Drops: frame.Some[uint64](1 << 63)}); frame.KindOf(err) != frame.ErrEncode {
		t.Errorf("NewHeartbeat with 2^63 drops = %v, want encode", err)
	}
}
