package qemuvhost

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func all(n int, bus busKind) []request {
	return slices.Repeat([]request{{count: 1, bus: bus}}, n)
}

func rootSlots() []int { return (&usage{}).free() }

// Requirement: X6
func TestPlace(t *testing.T) {
	cases := []struct {
		name     string
		requests []request
		want     []string // a selection of places: index, bus and slot
		bridges  int
		short    int
		lacking  int
	}{
		{name: "nothing"},
		{name: "one proxy", requests: all(1, conventional), want: []string{"0 pcie.0 0x1"}},
		{name: "as many as the root bus takes", requests: all(30, conventional), want: []string{"0 pcie.0 0x1", "29 pcie.0 0x1e"}},
		{
			name: "one proxy more", requests: all(31, conventional), bridges: 1,
			want: []string{"28 pcie.0 0x1d", "29 cosim.bridge0 0x1", "30 cosim.bridge0 0x2"},
		},
		{
			name: "64 proxies", requests: all(64, conventional), bridges: 2,
			want: []string{"27 pcie.0 0x1c", "28 cosim.bridge0 0x1", "58 cosim.bridge0 0x1f", "59 cosim.bridge1 0x1", "63 cosim.bridge1 0x5"},
		},
		{
			name: "64 over vfio-user", requests: all(64, express), bridges: 39,
			want: []string{"24 pcie.0 0x19", "25 cosim.port0 0x0", "63 cosim.port38 0x0"},
		},
		{
			name: "half and half", requests: append(all(32, conventional), all(32, express)...), bridges: 1 + 35,
			want: []string{"0 pcie.0 0x1", "63 cosim.port31 0x0"},
		},
		{
			name:     "an auto device keeps its slot free",
			requests: []request{{1, express}, {2, auto}, {1, conventional}, {}},
			want:     []string{"0 pcie.0 0x1", "2 pcie.0 0x4"},
		},
		{
			name: "more auto devices than slots", requests: append(all(40, auto), all(2, express)...), bridges: 2, short: 11,
			want: []string{"40 cosim.port0 0x0", "41 cosim.port1 0x0"},
		},
		{name: "far too many", requests: all(8*30+1, express), lacking: 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p, lacking := place(c.requests, rootSlots())
			if lacking != c.lacking || p.short != c.short {
				t.Errorf("place lacks %d slots and is %d short, want %d and %d", lacking, p.short, c.lacking, c.short)
			}
			for _, w := range c.want {
				var i int
				if _, err := fmt.Sscan(w, &i); err != nil {
					t.Fatal(err)
				}
				if got := fmt.Sprintf("%d %s %s", i, p.places[i].Bus, p.places[i].Addr); got != w {
					t.Errorf("place = %q, want %q", got, w)
				}
			}
		})
	}
}

// A twin of QEMU's buses puts devices where they ask to go, and those that do not ask in
// the lowest free slot.
type buses map[string]bool

func (b buses) put(bus, addr string) error {
	at := bus + " " + addr
	if slot, function, ok := strings.Cut(addr, "."); ok && function != "0x0" && !b[bus+" "+slot+".0x0"] {
		return fmt.Errorf("%s has no function 0", at)
	}
	if b[at] {
		return fmt.Errorf("%s is taken", at)
	}
	b[at] = true
	return nil
}

func (b buses) putAnywhere() error {
	for slot := firstSlot; slot <= lastSlot; slot++ {
		addr := fmt.Sprintf("%#x", slot)
		if !b[rootBus+" "+addr] && !b[rootBus+" "+addr+".0x0"] {
			return b.put(rootBus, addr)
		}
	}
	return fmt.Errorf("%s is full", rootBus)
}

// Whatever is asked for, in any order: everything finds its place.
//
// Requirement: X6
func TestPlaceNeverCollides(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		u := usage{early: r.IntN(3)}
		if r.IntN(2) == 0 {
			u.fix(firstSlot + 3 + r.IntN(lastSlot-3))
		}
		var requests []request
		autos := 0
		for range r.IntN(90) {
			q := request{count: 1, bus: busKind(r.IntN(2))}
			if r.IntN(20) == 0 && autos < 10 {
				q = request{count: r.IntN(3), bus: auto}
				autos += q.count
			}
			requests = append(requests, q)
		}
		p, lacking := place(requests, u.free())
		if lacking > 0 || p.short > 0 {
			t.Fatalf("place(%v) lacks %d and is %d short", requests, lacking, p.short)
		}
		if err := build(u, requests, p); err != nil {
			t.Fatalf("place(%v): %v\n%s\n%v", requests, err, strings.Join(p.bridges, "\n"), p.places)
		}
	}
}

// build makes everything in the order of the command line.
func build(u usage, requests []request, p placement) error {
	b := buses{"": true}
	for slot := range u.fixed {
		if err := b.put(rootBus, fmt.Sprintf("%#x", slot)); err != nil {
			return err
		}
	}
	for range u.early {
		if err := b.putAnywhere(); err != nil {
			return err
		}
	}
	made := map[string]bool{rootBus: true}
	for i := 1; i < len(p.bridges); i += 2 {
		bus, addr := placeOf(p.bridges[i])
		if err := b.put(bus, addr); err != nil {
			return err
		}
		_, rest, _ := strings.Cut(p.bridges[i], "id=")
		id, _, _ := strings.Cut(rest, ",")
		made[id] = true
	}
	for i, q := range requests {
		switch {
		case q.bus == auto:
			for range q.count {
				if err := b.putAnywhere(); err != nil {
					return err
				}
			}
		case !made[p.places[i].Bus]:
			return fmt.Errorf("bus %q is not there", p.places[i].Bus)
		case strings.HasPrefix(p.places[i].Bus, "cosim.bridge") && q.bus == express:
			return fmt.Errorf("a PCI Express device is behind %s", p.places[i].Bus)
		case strings.HasPrefix(p.places[i].Bus, "cosim.port") && q.bus == conventional:
			return fmt.Errorf("a conventional device is behind %s", p.places[i].Bus)
		default:
			if err := b.put(p.places[i].Bus, p.places[i].Addr); err != nil {
				return err
			}
		}
	}
	return nil
}

func TestScanFindsWhatArgumentsTake(t *testing.T) {
	cases := []struct {
		args         []string
		early, later int
		fixed        []int
	}{
		{args: nil},
		{args: []string{"-device", "e1000"}, later: 1},
		{args: []string{"--device", "e1000,bus=pcie.0"}, later: 1},
		{args: []string{"-device", "e1000,addr=0x5"}, fixed: []int{5}},
		{args: []string{"-device", "e1000,addr=10.1,bus=pcie.0"}, fixed: []int{0x10}},
		{args: []string{"-device", "scsi-hd,bus=scsi0.0,addr=0x5"}},
		{args: []string{"-device", `{"driver":"e1000","addr":"0x1e"}`}, fixed: []int{0x1e}},
		{args: []string{"-device", `{"driver":"e1000","bus":"port"}`}},
		{args: []string{"-device", `{"driver":`}, later: 1},
		{args: []string{"-device"}, later: 1},
		{args: []string{"-drive", "if=virtio,file=a", "-drive", "if=none,id=a", "-virtfs", "local,path=/"}, later: 2},
		{args: []string{"-vga", "std", "-nic", "user", "-net", "nic", "-net", "user", "-audio", "none,model=hda"}, early: 4},
		{args: []string{"-vga", "none", "-nic", "none", "-audio", "none"}},
		{args: []string{"-usb", "-machine", "usb=on", "-append", "device"}, fixed: []int{usbSlot}},
	}
	for _, c := range cases {
		var u usage
		u.scan(c.args)
		var fixed []int
		for slot := range u.fixed {
			fixed = append(fixed, slot)
		}
		if u.early != c.early || u.later != c.later || !slices.Equal(fixed, c.fixed) {
			t.Errorf("scan(%q) = early %d, later %d, fixed %v, want %d, %d, %v", c.args, u.early, u.later, fixed, c.early, c.later, c.fixed)
		}
	}
}
