package qemuvhost

import (
	"fmt"

	"github.com/cosim-go/cosim/adapters"
)

// The PCI Express root bus of q35: slot 0 is the host bridge and 0x1f the ISA bridge with
// the SATA and SMBus controllers (QEMU hw/i386/pc_q35.c).
const (
	rootBus   = "pcie.0"
	firstSlot = 0x1
	lastSlot  = 0x1e
)

const (
	bridgeSlots = 31 // behind a pci-bridge: 0x1 to 0x1f, slot 0 is its hot-plug controller's
	portsInSlot = 8  // root ports that are the functions of one slot, with one device each
)

// A request is what asks for places on the PCI buses.
type request struct {
	count int // how many devices; more than 1 only for auto
	bus   busKind
}

type busKind uint8

const (
	express      busKind = iota // on the root bus or behind a root port
	conventional                // on the root bus or behind a pci-bridge
	auto                        // on the root bus, in the slot that QEMU chooses: the lowest free one
)

// A placement is where the requests go.
type placement struct {
	bridges []string            // arguments that make the bridges and ports
	places  []adapters.PCIPlace // by request; empty for auto
	short   int                 // how many auto devices have no slot reserved
}

// place gives each request its place, on the root bus while they fit. Requests are in
// the order of the command line, and slots ascend in that order, so that an auto device
// finds its slot to be the lowest free one. Bridges and ports take the last slots. It
// reports how many slots are lacking, 0 where all is well.
func place(requests []request, free []int) (p placement, lacking int) {
	autos := 0
	for _, r := range requests {
		if r.bus == auto {
			autos += r.count
		}
	}
	direct, ok := directCount(requests, len(free)-autos)
	onRoot, behind := slotsNeeded(requests, direct)
	if !ok {
		if lacking = onRoot + behind - len(free); lacking > 0 {
			return p, lacking
		}
		p.short = autos + onRoot + behind - len(free)
	}
	bridgesAt := len(free) - behind
	l := &layouter{free: free[:bridgesAt], last: free[bridgesAt:], direct: direct}
	p.places = make([]adapters.PCIPlace, len(requests))
	for i, r := range requests {
		p.places[i] = l.next(r)
	}
	p.bridges = l.bridges
	return p, 0
}

// directCount is how many of the requests for a place can have one on the root bus, the
// first ones, so that the bridges and ports for the others still fit beside them. Where
// not even bridges and ports for all fit, it is 0, and not ok.
func directCount(requests []request, slots int) (direct int, ok bool) {
	for direct = len(requests); direct >= 0; direct-- {
		if onRoot, behind := slotsNeeded(requests, direct); onRoot+behind <= slots {
			return direct, true
		}
	}
	return 0, false
}

// slotsNeeded counts the slots of the root bus that are needed besides those of auto
// devices when the first so many requests have one each: those, and the ones of the
// bridges and ports for the others.
func slotsNeeded(requests []request, direct int) (onRoot, behind int) {
	behindBridge, behindPort := 0, 0
	for _, r := range requests {
		switch {
		case r.bus == auto || r.count == 0:
		case onRoot < direct:
			onRoot++
		case r.bus == conventional:
			behindBridge++
		default:
			behindPort++
		}
	}
	return onRoot, ceil(behindBridge, bridgeSlots) + ceil(behindPort, portsInSlot)
}

func ceil(n, per int) int { return (n + per - 1) / per }

// A layouter hands out places in order.
type layouter struct {
	free    []int // slots of the root bus for devices, ascending
	last    []int // slots of the root bus for bridges and ports
	direct  int   // how many more devices go straight on the root bus
	bridges []string

	behindBridge, behindPort int // how many devices are there already
	portSlot                 int // of the ports that are filled now
}

func (l *layouter) next(r request) adapters.PCIPlace {
	switch {
	case r.count == 0:
		return adapters.PCIPlace{}
	case r.bus == auto:
		l.free = l.free[min(r.count, len(l.free)):]
		return adapters.PCIPlace{}
	case l.direct > 0:
		l.direct--
		return adapters.PCIPlace{Bus: rootBus, Addr: fmt.Sprintf("%#x", take(&l.free))}
	case r.bus == conventional:
		return l.bridgePlace()
	}
	return l.portPlace()
}

func take(slots *[]int) int {
	slot := (*slots)[0]
	*slots = (*slots)[1:]
	return slot
}

func (l *layouter) bridgePlace() adapters.PCIPlace {
	bridge, slot := l.behindBridge/bridgeSlots, l.behindBridge%bridgeSlots+1
	l.behindBridge++
	id := fmt.Sprintf("cosim.bridge%d", bridge)
	if slot == 1 {
		l.bridges = append(l.bridges, "-device",
			fmt.Sprintf("pci-bridge,id=%s,chassis_nr=%d,bus=%s,addr=%#x", id, bridge+1, rootBus, take(&l.last)))
	}
	return adapters.PCIPlace{Bus: id, Addr: fmt.Sprintf("%#x", slot)}
}

// portChassis is the chassis of our root ports. Chassis and slot together must be unique
// in a machine; a high number leaves the low ones to the user's own ports.
const portChassis = 255

func (l *layouter) portPlace() adapters.PCIPlace {
	port, function := l.behindPort, l.behindPort%portsInSlot
	l.behindPort++
	if function == 0 {
		l.portSlot = take(&l.last)
	}
	id := fmt.Sprintf("cosim.port%d", port)
	l.bridges = append(l.bridges, "-device",
		fmt.Sprintf("pcie-root-port,id=%s,chassis=%d,slot=%d,bus=%s,addr=%#x.%#x,multifunction=on",
			id, portChassis, port+1, rootBus, l.portSlot, function))
	return adapters.PCIPlace{Bus: id, Addr: "0x0"}
}
