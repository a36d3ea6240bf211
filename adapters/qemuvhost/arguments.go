package qemuvhost

import (
	"encoding/json"
	"strconv"
	"strings"
)

// usbSlot is where q35 puts its USB controllers when they are asked for
// (QEMU hw/i386/pc_q35.c).
const usbSlot = 0x1d

// A usage is what arguments that are not ours take of the root bus.
type usage struct {
	early int          // devices made with the machine, before any -device
	later int          // devices in the order of the command line, in slots that QEMU chooses
	fixed map[int]bool // slots that are named
}

// scan finds what arguments take. It cannot know which of them are PCI devices, so it
// counts each that may be one.
func (u *usage) scan(args []string) {
	for i, arg := range args {
		option, ok := strings.CutPrefix(arg, "-")
		if !ok {
			continue
		}
		value := ""
		if i+1 < len(args) {
			value = args[i+1]
		}
		switch strings.TrimPrefix(option, "-") { // QEMU takes one hyphen or two
		case "device":
			u.device(value)
		case "drive":
			if strings.Contains(value, "if=virtio") {
				u.later++
			}
		case "virtfs":
			u.later++
		case "vga", "nic":
			if value != "none" {
				u.early++
			}
		case "net":
			if strings.HasPrefix(value, "nic") {
				u.early++
			}
		case "audio":
			if strings.Contains(value, "model=") {
				u.early++
			}
		case "usb":
			u.fix(usbSlot)
		case "machine", "M":
			u.machine(value)
		}
	}
}

// machine looks for the controllers that a machine option adds.
func (u *usage) machine(options string) {
	if strings.Contains(options, "usb=on") {
		u.fix(usbSlot)
	}
}

func (u *usage) fix(slot int) {
	if u.fixed == nil {
		u.fixed = map[int]bool{}
	}
	u.fixed[slot] = true
}

// device counts one -device, in either form.
func (u *usage) device(value string) {
	bus, addr := placeOf(value)
	slot, ok := parseSlot(addr)
	switch {
	case bus != "" && bus != rootBus:
	case ok:
		u.fix(slot)
	default:
		u.later++
	}
}

func placeOf(value string) (bus, addr string) {
	if strings.HasPrefix(value, "{") {
		var o struct{ Bus, Addr string }
		_ = json.Unmarshal([]byte(value), &o) // QEMU reports what is wrong with it
		return o.Bus, o.Addr
	}
	for _, option := range strings.Split(value, ",") {
		key, v, _ := strings.Cut(option, "=")
		switch key {
		case "bus":
			bus = v
		case "addr":
			addr = v
		}
	}
	return bus, addr
}

// parseSlot reads slot or slot.function, both hexadecimal with or without 0x
// (QEMU hw/core/qdev-properties-system.c, set_pci_devfn).
func parseSlot(addr string) (int, bool) {
	slot, _, _ := strings.Cut(addr, ".")
	n, err := strconv.ParseUint(strings.TrimPrefix(slot, "0x"), 16, 8)
	return int(n), err == nil
}
