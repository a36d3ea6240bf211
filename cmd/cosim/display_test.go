package main

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/cosim-go/cosim/runtime/supervise"
)

// watched is a machine that a test watches in a terminal.
const watched = `
-- two.yaml --
version: 1
kinds:
  sim: {role: vhost, program: sh, args: [-c, "echo one; while [ ! -e go ]; do sleep 0.01; done; echo two; echo PASS"]}
  nic: {role: device, program: sh, args: [-c, "echo up; exec sleep 1000"], ready: {log: ^up$}, stop: {grace: 100ms}}
machines:
  - {id: m, vhost: {kind: sim, memory: 1M, expect: {pass: ^PASS}}, devices: [{id: nic, kind: nic, count: 2}]}
`

// On a terminal each process has one live line, with its state, its time and its pid.
// At the end they stay, followed by the summary.
func TestLiveDisplay(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, watched)
	x := w.inTerminal(100, 24, "run", "two.yaml")
	for _, id := range []string{"m/nic0", "m/nic1", "m/vhost"} {
		x.await(fmt.Sprintf(`^%s +running +[0-9.]+m?s  pid %d$`, id, w.pid("two", id)))
	}
	if n := strings.Count(x.screen(), "\n") + 1; n != 3 {
		t.Errorf("the screen has %d lines, want one for each of 3 processes:\n%s", n, x.screen())
	}
	first := regexp.MustCompile(`m/vhost +running +([0-9.]+m?s)`).FindString(x.screen())
	if err := poll(func() error { // time goes on
		if strings.Contains(x.screen(), first) {
			return fmt.Errorf("the screen still shows %q", first)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	w.write("go", "")
	if code := x.wait(); code != 0 {
		t.Errorf("cosim = %d, want 0", code)
	}
	got := regexp.MustCompile(`[0-9.]+m?s\b`).ReplaceAllString(x.screen(), "TIME")
	got = regexp.MustCompile(` +TIME +pid [0-9]+`).ReplaceAllString(got, " TIME PID")
	want := `m/nic0   exited TIME PID
m/nic1   exited TIME PID
m/vhost  exited TIME PID
cosim: m/vhost said: PASS
cosim: session "two" ended well after TIME`
	if got != want {
		t.Errorf("the screen shows\n%s\nwant\n%s", got, want)
	}
	if regexp.MustCompile(`\x1b\[[0-9;]*m`).MatchString(x.output.String()) {
		t.Errorf("NO_COLOR is set, and cosim writes colours: %q", x.output)
	}
}

// What a guest prints stands above the live lines, whole, where both go to the terminal.
func TestLiveDisplayBelowTheGuestsOutput(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, watched)
	x := w.inTerminal(100, 24, "run", "--console", "m", "two.yaml")
	x.await(`^one\nm/nic0 +running .*\nm/nic1 .*\nm/vhost .*$`)
	w.write("go", "")
	if code := x.wait(); code != 0 {
		t.Errorf("cosim = %d, want 0", code)
	}
	if got := x.screen(); !strings.HasPrefix(got, "one\ntwo\nPASS\nm/nic0 ") {
		t.Errorf("the screen shows\n%s", got)
	}
}

func TestColoursOnATerminal(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, watched)
	w.env = append(w.env, "NO_COLOR=")
	x := w.inTerminal(100, 24, "run", "two.yaml")
	x.await(`^m/vhost +running `)
	w.write("go", "")
	x.wait()
	if !strings.Contains(x.output.String(), "\x1b[32mrunning") {
		t.Errorf("cosim writes no colours: %q", x.output)
	}
}

// A terminal that can only print has plain lines.
func TestDumbTerminal(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, watched)
	w.write("go", "")
	w.env = append(w.env, "TERM=dumb")
	x := w.inTerminal(100, 24, "run", "two.yaml")
	x.wait()
	if got := x.output.String(); strings.Contains(got, "\x1b") || !strings.Contains(got, "m/vhost: starting") {
		t.Errorf("cosim writes %q, want plain lines", got)
	}
}

// shown makes a display of many processes, of which some are in a state of their own.
func shown(states map[string]supervise.State, count int) *display {
	start := time.Unix(1000, 0)
	d := &display{states: map[string]supervise.ProcessState{}, now: func() time.Time { return start.Add(90 * time.Second) }}
	for i := range count {
		id := fmt.Sprintf("m%d/vhost", i)
		d.order = append(d.order, id)
		state, ok := states[id]
		if !ok {
			state = supervise.Ready
		}
		d.states[id] = supervise.ProcessState{ID: id, State: state, PID: 100 + i, Started: start}
	}
	return d
}

func TestDisplayLines(t *testing.T) {
	for name, tt := range map[string]struct {
		states        map[string]supervise.State
		count         int
		width, height int
		want          string
	}{
		"all fit": {nil, 2, 80, 10, `
m0/vhost  running        1m30s  pid 100
m1/vhost  running        1m30s  pid 101`},
		"more than fit: those that are not simply running, and a count": {
			map[string]supervise.State{"m3/vhost": supervise.Starting, "m7/vhost": supervise.Failed, "m8/vhost": supervise.Waiting}, 10, 80, 4, `
m3/vhost  starting       1m30s  pid 103
m7/vhost  failed         1m30s  pid 107
and 1 waiting, 7 running`},
		"more of those than fit": {
			map[string]supervise.State{"m1/vhost": supervise.Starting, "m2/vhost": supervise.Starting, "m3/vhost": supervise.Starting}, 5, 80, 3, `
m1/vhost  starting       1m30s  pid 101
m2/vhost  starting       1m30s  pid 102
and 1 starting, 2 running`},
		"a narrow terminal": {nil, 1, 30, 10, `
m0/vhost  running        1m30…`},
		"a terminal without height": {nil, 3, 80, 1, `
and 3 running`},
	} {
		t.Run(name, func(t *testing.T) {
			got := strings.Join(shown(tt.states, tt.count).lines(tt.width, tt.height), "\n")
			if got != strings.TrimPrefix(tt.want, "\n") {
				t.Errorf("lines =\n%s\nwant%s", got, tt.want)
			}
		})
	}
}

func TestCleanedText(t *testing.T) {
	if got, want := clean("a\x1b[31mb\x00\r\tc\u009bd ä"), "a?[31mb??\tc?d ä"; got != want {
		t.Errorf("clean = %q, want %q", got, want)
	}
}
