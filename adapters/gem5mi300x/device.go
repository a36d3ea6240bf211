package gem5mi300x

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/cosim-go/cosim/adapters"
	"github.com/cosim-go/cosim/adapters/internal/qemuarg"
	"github.com/cosim-go/cosim/topology"
	"github.com/cosim-go/cosim/topology/diag"
	"github.com/cosim-go/cosim/topology/layout"
)

// listening is the line that the model writes when its socket takes a client. The banner
// of the script comes before the socket is there (src/dev/amdgpu/mi300x_vfio_user.cc).
const listening = "MI300XVfioUser: listening on"

// Device renders the gem5 of one GPU.
func (adapter) Device(m *adapters.Machine, index int) (adapters.Command, adapters.Attachment, diag.List) {
	d, paths := m.Model.Devices[index], m.Devices[index]
	attachment := qemuarg.VFIOUser(d.ID, paths.Socket)
	c := adapters.Command{
		Program: d.Program,
		Env:     d.Env,
		Ready:   adapters.Ready{Socket: paths.Socket, Log: listening},
		Stop:    adapters.Stop{Signal: topology.DefaultStop.Signal, Grace: topology.DefaultStop.Grace.String()},
		Dirs:    []string{paths.OutDir},
	}
	memory := poolOptions(m, d)
	if separated(d) {
		guest, vram := guestFile(m), vramFile(m, d)
		attachment.Memory, c.Files = &guest.File, []adapters.File{vram.File}
		memory = []string{"--shmem-host-path=" + guest.name, "--shmem-path=" + vram.name}
	}
	c.Args = slices.Concat(
		gem5Options(d, paths.OutDir),
		[]string{m.Files.Resource(d.Params.String("script")), "--socket-path=" + paths.Socket},
		memory,
		scriptOptions(m, d),
		d.Args,
	)
	return c, attachment, nil
}

// gem5Options are those of gem5 itself, which it takes before the script only.
func gem5Options(d *topology.Device, outDir string) []string {
	args := []string{"--outdir=" + outDir, "--listener-mode=" + d.Params.String("listener")}
	if flags := d.Params.String("debug_flags"); flags != "" {
		args = append(args, "--debug-flags="+flags)
	}
	return append(args, d.Params.Strings("gem5_args")...)
}

// scriptOptions are those of the script that say how large things are.
func scriptOptions(m *adapters.Machine, d *topology.Device) []string {
	return []string{
		"--dgpu-mem-size=" + size(vram(m, d).Size),
		"--num-compute-units=" + strconv.FormatInt(d.Params.Int("compute_units"), 10),
		"--mem-size=" + size(m.Model.Vhost.Memory),
		"--num-gpus=1",
	}
}

// size writes a size for gem5, which wants whole numbers and, after a unit, the B
// (gem5 src/python/m5/util/convert.py).
func size(s layout.Size) string {
	if s%layout.MiB == 0 {
		return fmt.Sprintf("%dMiB", s/layout.MiB)
	}
	return strconv.FormatUint(uint64(s), 10)
}

func vram(m *adapters.Machine, d *topology.Device) layout.Region {
	r, _ := m.Layout.Region(d.ID + "." + VRAM) // the kind requires it
	return r
}
