package resources_test

import (
	"bufio"
	"encoding/json"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cosim-go/cosim/adapters"
)

// waitForFirmware waits until every device is listed and has an address.
func waitForFirmware(t *testing.T, m *adapters.Machine) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(patience)
	lacking := []string{"any device"}
	var query func() map[string]pciDevice
	for {
		if query == nil {
			query = dial(t, m.QMP)
		}
		if query != nil {
			listed := query()
			lacking = nil
			for _, d := range m.Model.Devices {
				if !listed[d.ID].addressed() {
					lacking = append(lacking, d.ID)
				}
			}
		}
		if len(lacking) == 0 {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("query-pci does not list %q with an address", lacking)
		case <-tick.C:
		}
	}
}

// A pciDevice is an entry of query-pci.
type pciDevice struct {
	QdevID  string                         `json:"qdev_id"`
	Regions []struct{ Address int64 }      // -1 until it is assigned
	Bridge  *struct{ Devices []pciDevice } `json:"pci_bridge"`
}

// addressed reports whether a BAR has an address. A proxy shows the upper half of a
// 64-bit BAR as one of its own, which never has.
func (d pciDevice) addressed() bool {
	return slices.ContainsFunc(d.Regions, func(r struct{ Address int64 }) bool { return r.Address >= 0 })
}

// devicesIn lists the devices of an answer to query-pci, on all buses, by identifier.
func devicesIn(t *testing.T, answer string) map[string]pciDevice {
	t.Helper()
	var reply struct {
		Return []struct{ Devices []pciDevice }
	}
	if err := json.Unmarshal([]byte(answer), &reply); err != nil {
		t.Fatal(err)
	}
	found := map[string]pciDevice{}
	var walk func([]pciDevice)
	walk = func(list []pciDevice) {
		for _, d := range list {
			found[d.QdevID] = d
			if d.Bridge != nil {
				walk(d.Bridge.Devices)
			}
		}
	}
	for _, bus := range reply.Return {
		walk(bus.Devices)
	}
	return found
}

// dial opens a QEMU monitor and returns what asks it for the PCI devices, or nil where
// nobody listens yet.
func dial(t *testing.T, socket string) func() map[string]pciDevice {
	t.Helper()
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return nil
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(conn)
	answer := func() string {
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(line, `{"timestamp"`) {
				return line
			}
		}
	}
	ask := func(command string) string {
		if err := json.NewEncoder(conn).Encode(map[string]string{"execute": command}); err != nil {
			t.Fatal(err)
		}
		return answer()
	}
	answer() // the greeting
	ask("qmp_capabilities")
	return func() map[string]pciDevice { return devicesIn(t, ask("query-pci")) }
}
