package manifest_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/manifest"
)

// host returns an inventory of a host with that many cartridges of that many caps each, all running.
func host(t testing.TB, cartridges, capsEach int) *manifest.Inventory {
	records := make([]manifest.Record, cartridges)
	for i := range records {
		table := []manifest.Cap{mustCap(t, "cap:effect=none")}
		for j := 1; j < capsEach; j++ {
			table = append(table, mustCap(t, fmt.Sprintf(`cap:in="media:ext=e%d";op=o%d;out="media:enc=utf-8"`, i, j)))
		}
		m := &manifest.Cartridge{Groups: []manifest.CapGroup{{Name: "default", Caps: table}}}
		records[i] = manifest.Record{
			Install: manifest.Install{Channel: "release", ID: fmt.Sprint("c", i), Version: "1.0.0"},
			Groups:  m.Groups, Lifecycle: manifest.LifecycleOperational,
			Stats: &manifest.RuntimeStats{Running: true, Pools: m.InitialPools(), PID: ptr(uint64(1000 + i))},
		}
	}
	return manifest.NewInventory(records, nil)
}

// count changes the figures of a record, and nothing else.
func count(r *manifest.Record, n uint64) {
	s := *r.Stats
	s.ActiveRequests, s.RSSMB = n, 10*n
	s.Pools = s.Pools.Clone()
	for name, p := range s.Pools {
		p.Active, p.Queued = n, n%3
		s.Pools[name] = p
	}
	r.Stats = &s
}

func follow(t *testing.T, f *manifest.Follower, v *manifest.Inventory, want manifest.Change) *manifest.Inventory {
	t.Helper()
	text := v.AppendJSON(nil)
	got, change, err := f.Read(text)
	if err != nil {
		t.Fatal(err)
	}
	if change != want {
		t.Errorf("change %+v, want %+v", change, want)
	}
	if alone := parse(t, string(text)); !reflect.DeepEqual(got, alone) {
		t.Errorf("followed %+v\nwant %+v", got, alone)
	}
	return got
}

// Requirement: N3
func TestChangesOfAnInventory(t *testing.T) {
	var f manifest.Follower
	v := host(t, 3, 3)
	all, admission, none := manifest.Change{Caps: true, Admission: true}, manifest.Change{Admission: true}, manifest.Change{}
	first := follow(t, &f, v, all)
	if again, change, err := f.Read(v.AppendJSON(nil)); again != first || change != none || err != nil {
		t.Errorf("the same text again: %p, %+v, %v, want %p", again, change, err, first)
	}
	count(&v.Records[1], 5)
	second := follow(t, &f, v, none)
	if &second.Caps[0] != &first.Caps[0] || &second.Records[1].Groups[0] != &first.Records[1].Groups[0] {
		t.Error("caps were read again, which did not change")
	}
	v.Records[0].Lifecycle = manifest.LifecycleVerifying
	follow(t, &f, v, none)

	setBound := func(n uint64) {
		count(&v.Records[2], 1)
		s := v.Records[2].Stats.Pools["all"]
		s.Available = &n
		v.Records[2].Stats.Pools["all"] = s
	}
	setBound(4)
	follow(t, &f, v, admission)
	setBound(0) // no bound either: what it was before
	follow(t, &f, v, admission)
	setBound(0)
	follow(t, &f, v, none)

	s := v.Records[2].Stats.Pools["all"]
	s.Caps = s.Caps[1:]
	v.Records[2].Stats.Pools["all"] = s
	follow(t, &f, v, admission)
	v.Records[1].Stats.Running = false
	follow(t, &f, v, admission)
	v.Records[0].Stats = &manifest.RuntimeStats{}
	follow(t, &f, v, admission)
	v.Records[0].Stats = nil
	follow(t, &f, v, admission)
	v.Records[0].Install.SHA256 = "00"
	follow(t, &f, v, admission)

	failed := manifest.NewInventory(slices.Clone(v.Records), nil)
	failed.Records[1].AttachmentError = &manifest.AttachmentError{Kind: manifest.Disabled}
	failed = manifest.NewInventory(failed.Records, nil)
	follow(t, &f, failed, all)
	follow(t, &f, v, all)
	v = manifest.NewInventory(slices.Delete(v.Records, 0, 1), nil)
	follow(t, &f, v, all)
	follow(t, &f, manifest.NewInventory(nil, nil), all)
	follow(t, &f, v, all)
}

// Caps that move from one record to another change who lets requests in, and not the cap set.
func TestCapsThatMove(t *testing.T) {
	var f manifest.Follower
	v := host(t, 2, 1)
	follow(t, &f, v, manifest.Change{Caps: true, Admission: true})
	v.Records[0].Groups, v.Records[1].Groups = nil, v.Records[0].Groups
	follow(t, &f, v, manifest.Change{Admission: true})
}

// A record that can no longer be used takes its caps along, also where the text of its caps stays.
func TestRecordThatFails(t *testing.T) {
	var f manifest.Follower
	for i, doc := range []string{
		inventory(record("x", groups("cap:a")), record("y", groups("cap:b"))),
		inventory(record("x", groups("cap:a")), record("y", groups("cap:b")+failed)),
		inventory(record("x", groups("cap:a")), record("y", groups("cap:b"))),
	} {
		v, change, err := f.Read([]byte(doc))
		if want := []string{"cap:a cap:b", "cap:a"}[i%2]; err != nil || capTexts(v.Caps) != want || !change.Caps {
			t.Errorf("caps %s, change %+v, %v, want %s", capTexts(v.Caps), change, err, want)
		}
	}
}

// A text that is no inventory changes nothing: the next one is compared with the last good one.
func TestBadInventoryBetweenGoodOnes(t *testing.T) {
	var f manifest.Follower
	v := host(t, 2, 2)
	follow(t, &f, v, manifest.Change{Caps: true, Admission: true})
	text := v.AppendJSON(nil)
	for cut := range text {
		if _, _, err := f.Read(text[:cut]); !errors.Is(err, frame.ErrProtocol) {
			t.Fatalf("Read of the first %d bytes = %v", cut, err)
		}
	}
	count(&v.Records[1], 1)
	follow(t, &f, v, manifest.Change{})
}

// What is taken over from the last text is the same in the new one, wherever it stands and whatever follows.
func TestFollowerAgainstReadingAlone(t *testing.T) {
	var f manifest.Follower
	rng := rand.New(rand.NewPCG(1, 2))
	base := host(t, 6, 4)
	for range 300 {
		v := manifest.NewInventory(slices.Clone(base.Records), []byte(fmt.Sprint(rng.IntN(3))))
		rng.Shuffle(rng.IntN(3), func(i, j int) { v.Records[i], v.Records[j] = v.Records[j], v.Records[i] })
		v = manifest.NewInventory(v.Records[:rng.IntN(7)], v.HostStats)
		for i := range v.Records {
			switch rng.IntN(6) {
			case 0:
				count(&v.Records[i], rng.Uint64N(100))
			case 1:
				v.Records[i].Groups = v.Records[rng.IntN(len(v.Records))].Groups
			case 2:
				v.Records[i].Stats = nil
			}
		}
		text := v.AppendJSON(nil)
		if rng.IntN(2) == 0 {
			text = bytes.ReplaceAll(text, []byte(`"cap_groups":[`), []byte(`"cap_groups" :  [`))
		}
		got, _, err := f.Read(text)
		if err != nil {
			t.Fatal(err)
		}
		if alone := parse(t, string(text)); !reflect.DeepEqual(got, alone) {
			t.Fatalf("followed %+v\nwant %+v", got, alone)
		}
	}
}

// What follows a part that is taken over is looked at.
func TestFollowerLooksAtWhatFollows(t *testing.T) {
	var f manifest.Follower
	good := inventory(record("x", groups("cap:a")))
	if _, _, err := f.Read([]byte(good)); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{
		strings.Replace(good, `]}]}]}`, `]}]]}]}`, 1), strings.Replace(good, `]}]}]}`, `]}]0}]}`, 1),
		strings.Replace(good, `"cap_groups":`, `"cap_groups":0`, 1), strings.Replace(good, `"cap_groups":`, `"cap_groups":[[],`, 1),
	} {
		if _, _, err := f.Read([]byte(bad)); err == nil {
			t.Errorf("Read(%s) passed", bad)
		}
	}
}

func TestFollowerKeepsNoText(t *testing.T) {
	var f manifest.Follower
	text := []byte(`{"host_protocol_stats":{"a":[1]},"installed_cartridges":[` + record("x", groups("cap:a")+`,"more":{"a":1}`) + `]}`)
	want := parse(t, string(text))
	got, _, err := f.Read(text)
	if err != nil {
		t.Fatal(err)
	}
	clear(text)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("after the text was overwritten: %+v, want %+v", got, want)
	}
}
