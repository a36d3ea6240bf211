package supervise

import (
	"context"
	"testing"

	"github.com/cosim-go/cosim/adapters"
	"github.com/cosim-go/cosim/runtime/plan"
)

// An end is one row of the table of ends: who ends how and when, and what becomes of
// the session.
type end struct {
	who, how, when string
	says           string // verdict lines of a vhost, before it ends
	reason         Reason // of the failure; empty where the session ends well
	status         int
	signal         string
	message        string
}

var ends = []end{
	{"device", "exit 0", "before", "", EndedEarly, 0, "", `device "d" (test-device) exited with status 0 after TIME, before it was ready; last line of its log: bye`},
	{"device", "exit 1", "before", "", EndedEarly, 1, "", `device "d" (test-device) exited with status 1 after TIME, before it was ready; last line of its log: bye`},
	{"device", "kill -KILL $$", "before", "", EndedEarly, -1, "SIGKILL", `device "d" (test-device) was killed by signal 9 (SIGKILL) after TIME, before it was ready; last line of its log: bye`},
	{"device", "exit 0", "after", "", Ended, 0, "", `device "d" (test-device) exited with status 0 after TIME, while its vhost went on; last line of its log: bye`},
	{"device", "exit 1", "after", "", Ended, 1, "", `device "d" (test-device) exited with status 1 after TIME; last line of its log: bye`},
	{"device", "kill -KILL $$", "after", "", Ended, -1, "SIGKILL", `device "d" (test-device) was killed by signal 9 (SIGKILL) after TIME; last line of its log: bye`},

	{"vhost", "exit 0", "before", "PASS", EndedEarly, 0, "", `vhost of machine "m" (test-vhost) exited with status 0 after TIME, before it was ready; last line of its log: bye`},
	{"vhost", "exit 1", "before", "PASS", EndedEarly, 1, "", `vhost of machine "m" (test-vhost) exited with status 1 after TIME, before it was ready; last line of its log: bye`},
	{"vhost", "kill -SEGV $$", "before", "PASS", EndedEarly, -1, "SIGSEGV", `vhost of machine "m" (test-vhost) was killed by signal 11 (SIGSEGV) after TIME, before it was ready; last line of its log: bye`},
	{"vhost", "exit 0", "after", "PASS", "", 0, "", ""},
	{"vhost", "exit 0", "after", "nothing", NoVerdict, 0, "", `vhost of machine "m" (test-vhost) exited with status 0 after TIME, and no line of DIR/serial.log matched "^PASS"; last line of its log: nothing`},
	{"vhost", "exit 0", "after", "FAIL", BadVerdict, -1, "", `vhost of machine "m" (test-vhost) reported failure: "FAIL"`},
	{"vhost", "exit 1", "after", "PASS", Ended, 1, "", `vhost of machine "m" (test-vhost) exited with status 1 after TIME; last line of its log: bye`},
	{"vhost", "kill -KILL $$", "after", "PASS", Ended, -1, "SIGKILL", `vhost of machine "m" (test-vhost) was killed by signal 9 (SIGKILL) after TIME; last line of its log: bye`},

	{"template vhost", "exit 0", "before", "PASS", EndedEarly, 0, "", `vhost of machine "m" (test-vhost) exited with status 0 after TIME, before it was ready; last line of its log: bye`},
	{"template vhost", "exit 1", "before", "PASS", EndedEarly, 1, "", `vhost of machine "m" (test-vhost) exited with status 1 after TIME, before it was ready; last line of its log: bye`},
	{"template vhost", "kill -KILL $$", "before", "PASS", EndedEarly, -1, "SIGKILL", `vhost of machine "m" (test-vhost) was killed by signal 9 (SIGKILL) after TIME, before it was ready; last line of its log: bye`},
	{"template vhost", "exit 0", "after", "PASS", "", 0, "", ""},
	{"template vhost", "exit 0", "after", "nothing", NoVerdict, 0, "", `vhost of machine "m" (test-vhost) exited with status 0 after TIME, and no line of DIR/m-vhost.log matched "^PASS"; last line of its log: bye`},
	{"template vhost", "exit 0", "after", "FAIL", BadVerdict, -1, "", `vhost of machine "m" (test-vhost) reported failure: "FAIL"`},
	{"template vhost", "exit 1", "after", "PASS", Ended, 1, "", `vhost of machine "m" (test-vhost) exited with status 1 after TIME; last line of its log: bye`},
	{"template vhost", "kill -KILL $$", "after", "PASS", Ended, -1, "SIGKILL", `vhost of machine "m" (test-vhost) was killed by signal 9 (SIGKILL) after TIME; last line of its log: bye`},
}

// The other process of each row goes on until it is told to stop, so that the row's own
// is the one that decides.
//
// Requirements: X3, X5.
func TestEnds(t *testing.T) {
	for _, e := range ends {
		name := e.who + " ends by " + e.how + " " + e.when + " it is ready"
		if e.says != "" {
			name += " saying " + e.says
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.gate("go")
			_, who := e.stage(s)
			s.on(who.ID, Ready, func() { s.open("go") })
			result := s.run(context.Background())
			if got := s.message(result); got != e.message {
				t.Errorf("message = %s\nwant      %s", got, e.message)
			}
			if e.reason == "" {
				if err := result.Err(); err != nil {
					t.Errorf("Err() = %v, want nil", err)
				}
				return
			}
			f := result.First
			if f == nil {
				t.Fatal("the session ended well")
			}
			if f.Process != who.ID || f.Reason != e.reason || f.ExitStatus != e.status && e.reason != BadVerdict || f.Signal != e.signal && e.reason != BadVerdict {
				t.Errorf("First = %+v", f)
			}
			if got := s.state(result, who).State; got != Failed {
				t.Errorf("state of %s = %s, want %s", who.ID, got, Failed)
			}
		})
	}
}

// stage builds the row's session and returns the processes that go on and that ends.
func (e end) stage(s *stage) (other, who *plan.Process) {
	const goOn = "echo up; exec sleep 1000"
	script := "echo bye; " + e.how
	if e.when == "after" {
		script = "echo up; read x <go; echo bye; " + e.how
	}
	if e.who == "device" {
		who = s.device("m", "d", script)
		other = s.vhost("m", goOn)
	} else {
		other = s.device("m", "d", goOn)
		other.Stop.Grace = "10ms"
		log := s.path("serial.log")
		who = s.vhost("m", "echo "+e.says+" >>serial.log; "+script)
		if e.who == "template vhost" {
			log = who.Log
			who.Args[1] = "echo " + e.says + "; " + script
		}
		who.Expect = &plan.Expect{Log: log, Pass: "^PASS", Fail: "^FAIL"}
	}
	who.Ready, other.Ready = adapters.Ready{Log: "^up$"}, adapters.Ready{Log: "^up$"}
	return other, who
}
