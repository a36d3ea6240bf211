package plan

import (
	"io"
	"strconv"

	"github.com/cosim-go/cosim/adapters"
	"github.com/cosim-go/cosim/topology/layout"
)

// WriteJSON writes the plan, with a line feed at its end. The same plan gives the
// same bytes. It streams: about one process is held in memory at a time.
func (p *Plan) WriteJSON(w io.Writer) error {
	e := &encoder{w: w}
	e.open('{')
	list(e, "images", p.Images, e.image)
	e.object("launch", func() { e.launch(&p.Launch) })
	e.close('}')
	e.buf = append(e.buf, '\n')
	e.flush()
	return e.err
}

func (e *encoder) image(i *Image) {
	e.str("path", i.Path)
	e.str("format", i.Format)
	e.strings("used_by", i.UsedBy)
	e.boolean("direct", i.Direct)
	e.str("state", string(i.State))
	e.str("reason", i.Reason)
	if r := i.Recipe; r != nil {
		e.object("recipe", func() {
			e.str("program", r.Program)
			e.strings("args", r.Args)
			e.environ("env", r.Env)
			e.str("dir", r.Dir)
			e.strings("inputs", r.Inputs)
			e.str("timeout", r.Timeout)
			e.size("size", r.Size)
			e.str("tool", r.Tool)
			e.str("digest", r.Digest)
		})
	}
}

func (e *encoder) launch(l *Launch) {
	e.size("version", layout.Size(l.Version))
	e.object("session", func() {
		e.str("name", l.Session.Name)
		e.str("run_dir", l.Session.RunDir)
		e.str("pool_dir", l.Session.PoolDir)
		e.str("socket_dir", l.Session.SocketDir)
		e.str("workspace", l.Session.Workspace)
		e.str("topology", l.Session.Topology)
	})
	e.object("env", func() {
		e.size("page_size", l.Env.PageSize)
		e.strings("path", l.Env.Path)
		e.str("disk_lock_dir", l.Env.DiskLockDir)
	})
	list(e, "machines", l.Machines, e.machine)
	list(e, "processes", l.Processes, e.process)
	list(e, "missing", l.Missing, func(m *Missing) {
		e.str("what", m.What)
		e.str("name", m.Name)
		e.strings("needed_by", m.NeededBy)
		e.strings("looked_in", m.LookedIn)
	})
}

func (e *encoder) machine(m *Machine) {
	e.str("id", m.ID)
	e.str("placement", m.Placement)
	e.object("pool", func() {
		e.str("path", m.Pool.Path)
		e.size("size", m.Pool.Size)
		lines(e, "regions", m.Pool.Regions, func(r *layout.Region) {
			e.str("name", r.Name)
			e.size("offset", layout.Size(r.Offset))
			e.size("size", r.Size)
			e.optional("file", r.File)
		})
	})
	list(e, "disks", m.Disks, func(d *Disk) {
		e.str("id", d.ID)
		e.str("owner", d.Owner)
		e.str("target", d.Target)
		e.str("backing", d.Backing)
		e.str("format", d.Format)
		e.str("mode", string(d.Mode))
		e.boolean("readonly", d.ReadOnly)
		e.size("size", d.Size)
		e.line("lock", func() {
			e.str("path", d.Lock.Path)
			e.str("mode", d.Lock.Mode)
		})
		e.str("tool", d.Tool)
	})
}

func (e *encoder) process(p *Process) {
	e.str("id", p.ID)
	e.str("machine", p.Machine)
	e.str("role", string(p.Role))
	e.str("kind", p.Kind)
	e.str("program", p.Program)
	e.strings("args", p.Args)
	e.environ("env", p.Env)
	e.str("dir", p.Dir)
	e.strings("dirs", p.Dirs)
	e.strings("depends_on", p.DependsOn)
	e.ready(&p.Ready)
	e.str("timeout", p.Timeout)
	e.str("log", p.Log)
	if c := p.Console; c != nil {
		e.line("console", func() {
			e.str("socket", c.Socket)
			e.str("log", c.Log)
		})
	}
	if x := p.Expect; x != nil {
		e.line("expect", func() {
			e.str("log", x.Log)
			e.optional("pass", x.Pass)
			e.optional("fail", x.Fail)
		})
	}
	e.line("stop", func() {
		e.optional("qmp", p.Stop.QMP)
		e.str("signal", p.Stop.Signal)
		e.str("grace", p.Stop.Grace)
	})
	if len(p.FDs) > 0 {
		e.fds(p.FDs)
	}
}

func (e *encoder) ready(r *adapters.Ready) {
	e.line("ready", func() {
		e.optional("socket", r.Socket)
		e.optional("file", r.File)
		e.optional("log", r.Log)
		if len(r.Exec) > 0 {
			e.strings("exec", r.Exec)
		}
		e.optional("qmp", r.QMP)
	})
}

func (e *encoder) fds(fds []adapters.FD) {
	lines(e, "fds", fds, func(f *adapters.FD) {
		e.key("number")
		e.buf = strconv.AppendInt(e.buf, int64(f.Number), 10)
		e.str("channel", f.Channel)
	})
}
