package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cosim-go/cosim/topology/layout"
)

// guestRAM reads a session's layout.json and finds the pool of its only machine and
// the guest's memory in it.
func guestRAM(runDir string) (pool string, ram layout.Region, err error) {
	path := filepath.Join(runDir, "layout.json")
	data, err := os.ReadFile(path)
	if err != nil {
		return "", layout.Region{}, err
	}
	var l layout.Layout
	if err := json.Unmarshal(data, &l); err != nil {
		return "", layout.Region{}, fmt.Errorf("%s: %w", path, err)
	}
	if l.Version != layout.Version || len(l.Machines) != 1 || l.Machines[0].Pool == "" {
		return "", layout.Region{}, fmt.Errorf("%s: not the layout of a session with one machine", path)
	}
	ram, ok := l.Machines[0].Region(layout.MemoryRegion)
	if !ok {
		return "", layout.Region{}, fmt.Errorf("%s: no region %q", path, layout.MemoryRegion)
	}
	return l.Machines[0].Pool, ram, nil
}

// poolOffset is where a guest-physical range of the first 2 GiB lies in the pool. Below
// that, q35 maps addresses one to one onto its RAM (QEMU, hw/i386/pc_q35.c).
func poolOffset(ram layout.Region, address, size int64) (int64, error) {
	const lowest = 2 << 30
	if address < 0 || size < 0 || address > lowest-size || address+size > int64(ram.Size) {
		return 0, fmt.Errorf("%d bytes at %#x do not lie in the guest's memory", size, address)
	}
	return int64(ram.Offset) + address, nil
}
