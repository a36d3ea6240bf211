package supervise

import (
	"strings"
	"testing"

	"github.com/cosim-go/cosim/adapters"
	"github.com/cosim-go/cosim/runtime/plan"
)

// A plan that was edited by hand into something that cannot be run is refused as a
// whole, with everything that is wrong.
func TestRunRefusesWhatCannotBeRun(t *testing.T) {
	fd := func(number int, channel string) []adapters.FD {
		return []adapters.FD{{Number: number, Channel: channel}}
	}
	tests := []struct {
		name   string
		change func(d, v *plan.Process)
		says   []string
	}{
		{"texts", func(d, v *plan.Process) {
			d.Timeout, d.Stop.Grace, d.Stop.Signal, d.Ready.Log = "1", "x", "SIGTERM", "("
			v.Expect = &plan.Expect{Pass: "[", Fail: ")"}
			v.Program, v.Log = "sh", "log"
		}, []string{`process "m/d": timeout: `, `stop.grace: `, `stop.signal: unknown signal "SIGTERM"`, `ready.log: `,
			`process "m/vhost": expect.pass: `, `expect.fail: `, `program "sh" is not an absolute path`, `log "log" is not an absolute path`}},
		{"order", func(d, v *plan.Process) { d.DependsOn = []string{"m/vhost"} },
			[]string{`process "m/d" depends on "m/vhost", which does not stand before it`}},
		{"twice", func(d, v *plan.Process) { v.ID = d.ID; v.DependsOn = nil }, []string{`process "m/d" stands there twice`}},
		{"two vhosts", func(d, v *plan.Process) { d.Role = v.Role }, []string{`machine "m" has 2 vhosts, not one`}},
		{"no vhost", func(d, v *plan.Process) { v.Machine = "n" }, []string{`machine "m" has 0 vhosts, not one`}},
		{"role", func(d, v *plan.Process) { d.Role = "bus" }, []string{`process "m/d" has the unknown role "bus"`}},
		{"standard descriptor", func(d, v *plan.Process) { d.FDs, v.FDs = fd(2, "c"), fd(3, "c") },
			[]string{`process "m/d" cannot inherit a descriptor as number 2`}},
		{"huge descriptor", func(d, v *plan.Process) { d.FDs, v.FDs = fd(1<<30, "c"), fd(3, "c") }, []string{`number 1073741824`}},
		{"same number", func(d, v *plan.Process) {
			d.FDs = append(fd(3, "c"), fd(3, "e")...)
			v.FDs = append(fd(3, "c"), fd(4, "e")...)
		}, []string{`process "m/d" cannot inherit a descriptor as number 3`}},
		{"channel of one", func(d, v *plan.Process) { v.FDs = fd(3, "c") }, []string{`channel "c" does not join two processes: ["m/vhost"]`}},
		{"channel with itself", func(d, v *plan.Process) { v.FDs = append(fd(3, "c"), fd(4, "c")...) },
			[]string{`channel "c" does not join two processes: ["m/vhost" "m/vhost"]`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStage(t)
			tt.change(s.device("m", "d", "echo >started"), s.vhost("m", "echo >started"))
			_, err := Run(t.Context(), s.plan(), &s.opts)
			if err == nil {
				t.Fatal("Run() = nil, want an error")
			}
			for _, says := range tt.says {
				if !strings.Contains(err.Error(), says) {
					t.Errorf("Run() = %v\nwant %q in it", err, says)
				}
			}
			if s.has("started", "\n") {
				t.Error("a process was started")
			}
		})
	}
}

func TestRunNeedsAMark(t *testing.T) {
	for _, opts := range []*Options{nil, {}} {
		if _, err := Run(t.Context(), nil, opts); err == nil {
			t.Errorf("Run with options %v = nil, want an error", opts)
		}
	}
}

// A program that does not call GuardMain would start itself as a guard, again and again.
func TestRunNeedsGuardMain(t *testing.T) {
	guarded.Store(false)
	defer guarded.Store(true)
	s := newStage(t)
	s.vhost("m", "exit 0")
	if _, err := Run(t.Context(), s.plan(), &s.opts); err == nil || !strings.Contains(err.Error(), "GuardMain") {
		t.Errorf("Run() = %v, want an error that names GuardMain", err)
	}
	s.opts.NoGuard = true
	if err := s.run(t.Context()).Err(); err != nil {
		t.Errorf("Run without a guard: %v", err)
	}
}
