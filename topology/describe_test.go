package topology

import (
	"fmt"
	"strings"

	"github.com/cosim-go/cosim/topology/layout"
	"github.com/cosim-go/cosim/topology/placeholder"
)

// A describer writes a model as indented lines, leaving out what is not there.
type describer struct {
	strings.Builder
	depth int
}

func describe(m *Model) string {
	w := &describer{}
	if len(m.Files) > 1 {
		w.line("files %s", strings.Join(m.Files, " "))
	}
	kinds := map[*Kind]bool{}
	for i, machine := range m.Machines {
		if i > 0 && sameRegions(machine, m.Machines[i-1]) {
			w.line("machine %s at %v%s, as before", machine.ID, machine.Pos, place(machine))
			continue
		}
		w.machine(machine)
		kinds[machine.Vhost.Kind] = true
		for _, d := range machine.Devices {
			kinds[d.Kind] = true
		}
	}
	for _, machine := range m.Machines {
		w.kind(machine.Vhost.Kind, kinds)
		for _, d := range machine.Devices {
			w.kind(d.Kind, kinds)
		}
	}
	return w.String()
}

func (w *describer) line(format string, args ...any) {
	fmt.Fprintf(w, "%s%s\n", strings.Repeat("  ", w.depth), fmt.Sprintf(format, args...))
}

func (w *describer) machine(m *Machine) {
	w.line("machine %s at %v%s", m.ID, m.Pos, place(m))
	w.depth++
	v := m.Vhost
	w.line("vhost %s at %v memory %v cpus %d", v.Kind.Name, v.Pos, v.Memory, v.CPUs)
	w.depth++
	w.process(&v.Process)
	if v.Image != nil {
		w.artifact("image "+v.Image.Format, &v.Image.Artifact)
	}
	if b := v.Boot; b != nil {
		w.artifact("kernel", b.Kernel)
		w.artifact("initrd", b.Initrd)
		w.artifact("firmware", b.Firmware)
		if b.Append != "" {
			w.line("append %q", b.Append)
		}
	}
	if v.Expect != nil {
		w.line("expect pass %q fail %q", v.Expect.Pass, v.Expect.Fail)
	}
	w.depth--
	for _, d := range m.Devices {
		w.line("device %d %s %s at %v", d.Index, d.ID, d.Kind.Name, d.Pos)
		w.depth++
		w.process(&d.Process)
		w.regions(d.Regions)
		w.depth--
	}
	w.depth--
}

func place(m *Machine) string {
	if m.Remote() {
		return " on " + m.Agent
	}
	return ""
}

func (w *describer) process(p *Process) {
	w.line("program %s timeout %v", p.Program.Name, p.Timeout)
	if p.Args != nil {
		w.line("args %q", p.Args)
	}
	for _, e := range p.Env {
		w.line("env %s=%s", e.Name, e.Value)
	}
	for _, declared := range p.Kind.Params {
		if v := p.Params.Value(declared.Name); v != nil {
			if raw, ok := v.(interface{ MarshalJSON() ([]byte, error) }); ok {
				v = fmt.Sprintf("%s", raw)
			}
			w.line("param %s = %v", declared.Name, v)
		}
	}
	for _, d := range p.Disks {
		w.disk(d)
	}
}

func (w *describer) disk(d *Disk) {
	about := fmt.Sprintf("disk %s %s %s on %s", d.ID, d.Format, d.Mode, d.Bus)
	if d.ReadOnly {
		about += " readonly"
	}
	if d.Size != 0 {
		about += " size " + d.Size.String()
	}
	if d.Image {
		about += " showing the image"
	}
	w.artifact(about, d.File)
}

func (w *describer) artifact(what string, a *Artifact) {
	if a == nil {
		return
	}
	w.line("%s: %s", what, a.Path.Name)
	if r := a.Recipe; r != nil {
		w.depth++
		if r.Size != 0 {
			w.line("recipe size %v", r.Size)
		} else {
			w.line("recipe %s %q in %q inputs %v env %v timeout %v", r.Program.Name, r.Args, r.Dir, r.Inputs, r.Env, r.Timeout)
		}
		w.depth--
	}
}

func (w *describer) regions(regions []Region) {
	for _, r := range regions {
		align := ""
		if r.Align != 0 {
			align = " align " + r.Align.String()
		}
		w.line("region %s %v%s at %v", r.Name, r.Size, align, r.Pos)
	}
}

// kind writes a template kind, once.
func (w *describer) kind(k *Kind, wanted map[*Kind]bool) {
	if k.Template == nil || !wanted[k] {
		return
	}
	delete(wanted, k)
	t := k.Template
	w.line("kind %s %s at %v program %s devices %d disks %v channel %v", k.Name, k.Role, k.Pos, k.Program.Name, k.MaxDevices, k.TakesDisks, t.Channel)
	w.depth++
	for _, p := range k.Params {
		w.line("param %s %s default %v required %v values %q", p.Name, p.Type, p.Default, p.Required, p.Values)
	}
	w.regions(t.Regions)
	w.texts("args", t.Args)
	for _, e := range t.Env {
		w.line("env %s=%s", e.Name, e.Value)
	}
	w.texts("attach", t.Attach.Args)
	w.line("ready socket %q file %q log %q exec %q", t.Ready.Socket, t.Ready.File, t.Ready.Log, t.Ready.Exec)
	w.line("stop %s %v vfio-user %v", t.Stop.Signal, t.Stop.Grace, t.Attach.VFIOUser)
	w.depth--
}

func (w *describer) texts(what string, texts []placeholder.Text) {
	for _, t := range texts {
		w.line("%s %s", what, t)
	}
}

func describeLayout(l *layout.Layout) string {
	w := &describer{}
	for _, m := range l.Machines {
		w.line("machine %s size %v", m.ID, m.Size)
		w.depth++
		for _, r := range m.Regions {
			w.line("%s at %v size %v", r.Name, layout.Size(r.Offset), r.Size)
		}
		w.depth--
	}
	return w.String()
}
