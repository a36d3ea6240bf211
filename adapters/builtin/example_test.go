package builtin_test

import (
	"fmt"
	"strings"

	"github.com/cosim-go/cosim/adapters"
	"github.com/cosim-go/cosim/adapters/adapterstest"
	"github.com/cosim-go/cosim/adapters/builtin"
)

// A device of QEMU is rendered as a process of its own, and as an argument of its vhost.
func ExampleFor() {
	table := builtin.Table()
	model, problems := adapterstest.Load(`version: 1
machines:
  - id: m0
    vhost: {kind: qemu-vhost, memory: 128M}
    devices: [{id: test, kind: qemu-device, params: {device: pci-testdev}}]
`, table.Kinds())
	if err := problems.Err(); err != nil {
		fmt.Println(err)
		return
	}
	machines, err := adapterstest.Machines(model, adapterstest.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	device := builtin.For(table, model.Machines[0].Devices[0].Kind).(adapters.DeviceAdapter)
	command, attachment, _ := device.Device(machines[0], 0)
	fmt.Println(command.Program.Name, strings.Join(command.Args[:8], " "))
	fmt.Println(attachment.PCI.Args(adapters.PCIPlace{Bus: "pcie.0", Addr: "0x1", FD: 3}))
	// Output:
	// qemu-system-x86_64 -nodefaults -no-user-config -display none -machine x-remote -device {"driver":"pci-testdev","id":"test"}
	// [-device x-pci-proxy-dev,id=test,fd=3,bus=pcie.0,addr=0x1]
}
