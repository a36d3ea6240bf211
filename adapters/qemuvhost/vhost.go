package qemuvhost

import (
	"slices"
	"strconv"

	"github.com/cosim-go/cosim/adapters"
	"github.com/cosim-go/cosim/adapters/internal/qemuarg"
	"github.com/cosim-go/cosim/topology"
	"github.com/cosim-go/cosim/topology/diag"
)

// Vhost renders the QEMU of a machine.
func (adapter) Vhost(m *adapters.Machine, attachments []adapters.Attachment) (adapters.Command, diag.List) {
	v := m.Model.Vhost
	fds, numbers := adapters.Channels(attachments)
	places, list := placeAll(m, attachments)
	c := adapters.Command{
		Program: v.Program,
		Env:     v.Env,
		Ready:   adapters.Ready{QMP: m.QMP},
		Stop:    adapters.Stop{QMP: m.QMP, Signal: topology.DefaultStop.Signal, Grace: topology.DefaultStop.Grace.String()},
		Expect:  m.SerialLog,
		FDs:     fds,
	}
	memory := m.Layout.Pool
	if file, ok := adapters.GuestMemory(attachments); ok {
		memory, c.Files = file.Path, []adapters.File{file}
	}
	c.Args = slices.Concat(
		machineArgs(m),
		memoryArgs(v, memory),
		bootArgs(m),
		qemuarg.Serial(m.SerialSocket, m.SerialLog),
		qemuarg.Monitor(m.QMP),
		places.bridges,
		diskArgs(m, places.disks),
		attachmentArgs(attachments, places.devices, numbers),
		v.Args,
	)
	return c, list
}

func machineArgs(m *adapters.Machine) []string {
	v := m.Model.Vhost
	accel, cpu := accelerator(v.Params.String("accel"), m.Host), v.Params.String("cpu")
	if cpu == "" {
		cpu = defaultCPU[accel]
	}
	args := []string{"-nodefaults", "-no-user-config", "-display", "none"}
	if !v.Params.Bool("reboot") {
		args = append(args, "-no-reboot")
	}
	return append(args,
		"-name", qemuarg.NewOptions("guest="+m.Model.ID).String(),
		"-machine", qemuarg.NewOptions(v.Params.String("machine")).
			Add("accel", accel).Add("memory-backend", qemuarg.MemoryID).String(),
		"-cpu", cpu,
		"-smp", strconv.Itoa(v.CPUs),
	)
}

// defaultCPU is the CPU model for each accelerator. QEMU refuses host under tcg.
var defaultCPU = map[string]string{"kvm": "host", "tcg": "max"}

func accelerator(param string, host adapters.Host) string {
	switch {
	case param != "auto":
		return param
	case host.KVM:
		return "kvm"
	}
	return "tcg"
}

// memoryArgs maps the first bytes of a file as the guest's memory. The file may be
// larger; an offset is never given, since QEMU before 8.1 has no such option and the
// later ones do not tell it to devices in other processes.
func memoryArgs(v *topology.Vhost, file string) []string {
	backend := qemuarg.NewOptions("memory-backend-file").Add("id", qemuarg.MemoryID).
		Add("size", qemuarg.Size(v.Memory)).Add("mem-path", file).Add("share", "on")
	return append(qemuarg.Memory(v.Memory), "-object", backend.String())
}

func bootArgs(m *adapters.Machine) []string {
	b := m.Model.Vhost.Boot
	if b == nil {
		return nil
	}
	var args []string
	for _, a := range []struct {
		option string
		file   *topology.Artifact
	}{{"-bios", b.Firmware}, {"-kernel", b.Kernel}, {"-initrd", b.Initrd}} {
		if a.file != nil {
			args = append(args, a.option, m.Files.Resource(a.file.Path.Name))
		}
	}
	if b.Append != "" {
		args = append(args, "-append", b.Append)
	}
	return args
}

func attachmentArgs(attachments []adapters.Attachment, places []adapters.PCIPlace, numbers []int) []string {
	var args []string
	for i, a := range attachments {
		switch {
		case a.PCI != nil:
			place := places[i]
			place.FD = numbers[i]
			args = append(args, a.PCI.Args(place)...)
		case a.Args != nil:
			args = append(args, a.Args(numbers[i])...)
		}
	}
	return args
}
