// Package cartridges tests the programs in the folders below: each as a process of its own, under hosts that are
// joined to a switch by Unix sockets.
package cartridges

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/host"
	"github.com/cosim-go/cosim/relay/relaytest"
	"github.com/cosim-go/cosim/relay/route"
	"github.com/cosim-go/cosim/relay/stats"
)

// limit is how long a request, or the way to an end, may take.
const limit = 2 * time.Minute

// bin is the directory of the programs.
var bin string

func TestMain(m *testing.M) {
	status, err := built(m.Run)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		status = 1
	}
	os.Exit(status)
}

// built calls do with the programs there, with the race detector where this test has it.
func built(do func() int) (int, error) {
	dir, err := os.MkdirTemp("", "cartridges")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	bin = dir
	args := []string{"build", "-o", dir + "/"}
	if info, ok := debug.ReadBuildInfo(); ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		args = append(args, "-race")
		os.Setenv("GORACE", os.Getenv("GORACE")+" atexit_sleep_ms=0") // or each process takes a second to end
	}
	if said, err := exec.Command("go", append(args, "./...")...).CombinedOutput(); err != nil {
		return 0, fmt.Errorf("go build: %v\n%s", err, said)
	}
	return do(), nil
}

// A rig is a switch with hosts in this process, whose cartridges are processes of their own.
type rig struct {
	*route.Switch
	t     *testing.T
	hosts []*host.Host
	log   journal
}

// newRig makes a switch with a host for each list of programs. At the end of the test nothing may be left of it.
func newRig(t *testing.T, hosts ...[]string) *rig {
	t.Helper()
	relaytest.NoLeaks(t)
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "switch.sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	s, err := route.New(t.Context(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{Switch: s, t: t}
	ended := make(chan error, len(hosts))
	t.Cleanup(func() { r.end(ended) })
	for i, programs := range hosts {
		r.join(l, fmt.Sprintf("host-%d", i), programs, ended)
	}
	return r
}

// join joins a host that serves some programs to the switch.
func (r *rig) join(l net.Listener, id string, programs []string, ended chan<- error) {
	r.t.Helper()
	o := &host.Options{Logger: slog.New(slog.NewTextHandler(&r.log, nil)), Observer: r.log.observe}
	h := host.New(o)
	r.hosts = append(r.hosts, h)
	for _, name := range programs {
		program := host.Program(host.Exec, host.Command{Path: filepath.Join(bin, name)})
		m, err := host.Inspect(r.t.Context(), program, o)
		if err == nil {
			err = h.Register(host.Registration{Install: m.Install(), Groups: m.Groups, Provider: program})
		}
		if err != nil {
			r.t.Fatalf("%s: %v", name, err)
		}
	}
	near, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		r.t.Fatal(err)
	}
	go func() { ended <- h.Run(context.Background(), near) }()
	far, err := l.Accept()
	if err == nil {
		_, err = r.AddMaster(r.t.Context(), id, far)
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

// end ends the switch, and with it the hosts and their cartridges, of which nothing may be left.
func (r *rig) end(ended <-chan error) {
	r.rest()
	r.Close()
	for _, h := range r.hosts {
		select {
		case err := <-ended:
			if err != nil {
				r.t.Errorf("a host ended with %v", err)
			}
		case <-time.After(limit):
			r.t.Error("a host does not end")
		}
		h.Close()
	}
	r.log.check(r.t)
}

// rest waits until no request is left anywhere.
func (r *rig) rest() {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for begun := time.Now(); ; <-tick.C {
		left := r.left()
		if len(left) == 0 {
			return
		}
		if time.Since(begun) > limit {
			r.t.Errorf("left are %s", strings.Join(left, "; "))
			return
		}
	}
}

// left says what is left of requests, and what was lost.
func (r *rig) left() (said []string) {
	now := r.Stats()
	if n := now.Drops.ByReason[stats.NoRoute]; n > 0 {
		r.t.Errorf("%d frames were dropped without a route", n)
	}
	if n := len(now.Requests.Active); n > 0 {
		said = append(said, fmt.Sprintf("%d requests in the switch", n))
	}
	for i, h := range r.hosts {
		if s := h.Stats(); s.OutgoingRIDs+s.IncomingRXIDs+s.IncomingToPeerRIDs+s.OutgoingMaxSeq > 0 {
			said = append(said, fmt.Sprintf("in host %d %+v", i, s))
		}
	}
	return said
}

// ask sends an argument to a cap and returns the answer.
func (r *rig) ask(cap, media string, data []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(r.t.Context(), limit)
	defer cancel()
	return call.Do(ctx, r, cap, call.Bytes(media, data))
}

// must is ask for a request that has to succeed.
func (r *rig) must(cap, media string, data []byte) []byte {
	r.t.Helper()
	answer, err := r.ask(cap, media, data)
	if err != nil {
		r.t.Fatalf("%s of %d bytes: %v", cap, len(data), err)
	}
	return answer
}

// fails reports whether err is the error that is wanted, whatever message it has.
func fails(err error, want call.Error) bool {
	var got *call.Error
	return errors.As(err, &got) && got.Code == want.Code && got.Attribution == want.Attribution && got.ArgURN == want.ArgURN && got.Message != ""
}

// A journal has what hosts tell of their cartridges.
type journal struct {
	mu     sync.Mutex
	text   bytes.Buffer
	starts map[string][]int // ids of processes by the cartridge
	wrong  []host.Event
}

func (j *journal) Write(line []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(line)
}

func (j *journal) observe(e host.Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch e.Kind {
	case host.Started:
		if j.starts == nil {
			j.starts = map[string][]int{}
		}
		j.starts[e.Install.ID] = append(j.starts[e.Install.ID], e.PID)
	case host.Stopped:
	default:
		j.wrong = append(j.wrong, e)
	}
}

// check fails the test where a cartridge was started twice, ended by itself, wrote to standard error, or is still there.
func (j *journal) check(t *testing.T) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, e := range j.wrong {
		t.Errorf("cartridge %v %s: %s", e.Install, e.Kind, e.Message)
	}
	for name, pids := range j.starts {
		if len(pids) != 1 {
			t.Errorf("cartridge %q was started %d times", name, len(pids))
		}
		for _, pid := range pids {
			if err := syscall.Kill(pid, 0); err != syscall.ESRCH {
				t.Errorf("process %d of cartridge %q is left: %v", pid, name, err)
			}
		}
	}
	if said := j.text.String(); strings.Contains(said, "msg=stderr") {
		t.Errorf("cartridges wrote to standard error:\n%s", said)
	}
}
