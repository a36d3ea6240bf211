package plan

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/cosim-go/cosim/adapters"
	"github.com/cosim-go/cosim/runtime/session"
	"github.com/cosim-go/cosim/topology/layout"
)

// check refuses a plan whose parts do not fit together.
func (p *Plan) check() error {
	l := &p.Launch
	paths := []string{l.Session.RunDir, l.Session.PoolDir, l.Session.SocketDir, l.Session.Workspace, l.Env.DiskLockDir}
	for _, path := range paths {
		if !filepath.IsAbs(path) {
			return fmt.Errorf("%q is not an absolute path", path)
		}
	}
	if !identifier.MatchString(l.Session.Name) {
		return fmt.Errorf("%q is not the name of a session", l.Session.Name)
	}
	for i := range p.Images {
		if err := p.Images[i].check(); err != nil {
			return err
		}
	}
	machines := map[string]bool{}
	for i := range l.Machines {
		if id := l.Machines[i].ID; machines[id] {
			return fmt.Errorf("machine %q stands there twice", id)
		}
		machines[l.Machines[i].ID] = true
		if err := l.Machines[i].check(&l.Session); err != nil {
			return err
		}
	}
	return l.checkProcesses()
}

func (i *Image) check() error {
	switch i.State {
	case Ready, Absent, Stale, Unbuildable:
	default:
		return fmt.Errorf("image %q has the unknown state %q", i.Path, i.State)
	}
	if i.Recipe != nil {
		if _, err := time.ParseDuration(i.Recipe.Timeout); err != nil {
			return fmt.Errorf("recipe of image %q: %w", i.Path, err)
		}
	}
	return nil
}

var identifier = regexp.MustCompile(fmt.Sprintf(`^[A-Za-z0-9_-]{1,%d}$`, session.MaxName))

// check also refuses files that a session would make where its removal does not look
// for them.
func (m *Machine) check(s *Session) error {
	if !identifier.MatchString(m.ID) {
		return fmt.Errorf("%q is not the identifier of a machine", m.ID)
	}
	if want := s.PoolDir + "/" + m.ID + ".pool"; m.Pool.Path != want {
		return fmt.Errorf("pool of machine %q is %q, it must be %q", m.ID, m.Pool.Path, want)
	}
	for _, r := range m.Pool.Regions {
		start := layout.Size(r.Offset)
		if r.File == "" && (start > m.Pool.Size || r.Size > m.Pool.Size-start) {
			return fmt.Errorf("region %q of machine %q lies outside its pool", r.Name, m.ID)
		}
		if prefix := "cosim-" + session.Hash(s.RunDir) + "-"; r.File != "" && !strings.HasPrefix(filepath.Base(r.File), prefix) {
			return fmt.Errorf("file %q of region %q of machine %q must be named %s…", r.File, r.Name, m.ID, prefix)
		}
	}
	for _, d := range m.Disks {
		if !identifier.MatchString(d.ID) {
			return fmt.Errorf("%q is not the identifier of a disk", d.ID)
		}
		if want := s.RunDir + "/" + m.ID + "/" + d.ID + ".qcow2"; d.Target != d.Backing && d.Target != want {
			return fmt.Errorf("overlay of disk %q of machine %q is %q, it must be %q", d.ID, m.ID, d.Target, want)
		}
	}
	return nil
}

func (l *Launch) checkProcesses() error {
	seen := map[string]bool{}
	channels := map[string]int{}
	for i := range l.Processes {
		p := &l.Processes[i]
		if seen[p.ID] || p.ID == "" {
			return fmt.Errorf("process %q stands there twice, or has no name", p.ID)
		}
		for _, d := range p.DependsOn {
			if !seen[d] {
				return fmt.Errorf("process %q depends on %q, which does not stand before it", p.ID, d)
			}
		}
		seen[p.ID] = true
		if err := p.check(); err != nil {
			return fmt.Errorf("process %q: %w", p.ID, err)
		}
		for _, f := range p.FDs {
			channels[f.Channel]++
		}
	}
	for name, n := range channels {
		if n != 2 {
			return fmt.Errorf("channel %q stands in %d processes, it joins exactly two", name, n)
		}
	}
	return nil
}

func (p *Process) check() error {
	for _, text := range []string{p.Timeout, p.Stop.Grace} {
		if d, err := time.ParseDuration(text); err != nil || d < 0 {
			return fmt.Errorf("%q is not a duration", text)
		}
	}
	sockets := []string{p.Ready.Socket, p.Ready.QMP, p.Stop.QMP}
	if p.Console != nil {
		sockets = append(sockets, p.Console.Socket)
	}
	for _, s := range sockets {
		if len(s) > session.MaxSocketPath {
			return fmt.Errorf("socket path %q has %d bytes, %d is the most", s, len(s), session.MaxSocketPath)
		}
	}
	for i, f := range p.FDs {
		if f.Number != adapters.FirstFD+i {
			return fmt.Errorf("descriptor %d stands where %d is due", f.Number, adapters.FirstFD+i)
		}
	}
	patterns := []string{p.Ready.Log}
	if p.Expect != nil {
		patterns = append(patterns, p.Expect.Pass, p.Expect.Fail)
	}
	for _, pattern := range patterns {
		if _, err := regexp.Compile(pattern); err != nil {
			return err
		}
	}
	return nil
}
