package supervise

import (
	"context"
	"net"
	"os"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/cosim-go/cosim/adapters"
	"github.com/cosim-go/cosim/runtime/plan"
)

// Each condition is made true by a script that waits for the test, which lets it go on
// once it runs. When the process is ready the condition holds, and not for what stood
// there before the start.
//
// Requirement: X3.
func TestReadiness(t *testing.T) {
	tests := []struct {
		name, script string
		stage        func(s *stage, d *plan.Process)
		holds        func(s *stage, d *plan.Process) bool
	}{
		{"executed", "exec sleep 1000", func(s *stage, d *plan.Process) {}, func(s *stage, d *plan.Process) bool {
			return s.pid(d.ID) != 0
		}},
		{"file", "read x <go; >ready; exec sleep 1000", func(s *stage, d *plan.Process) {
			os.WriteFile(s.path("ready"), []byte("old"), 0o600)
			d.Ready.File = s.path("ready")
		}, func(s *stage, d *plan.Process) bool { return s.has("ready", "") }},
		{"log line", `read x <go; printf 'u'; printf 'p\r\n'; exec sleep 1000`, func(s *stage, d *plan.Process) {
			os.WriteFile(d.Log, []byte("up\nold\n"), 0o600)
			d.Ready.Log = "^up$"
		}, func(s *stage, d *plan.Process) bool { return s.has("m-d.log", "up\r\n") }},
		{"log line on standard error", "read x <go; echo up >&2; exec sleep 1000", func(s *stage, d *plan.Process) {
			d.Ready.Log = "^up$"
		}, func(s *stage, d *plan.Process) bool { return s.has("m-d.log", "up\n") }},
		{"exec", "read x <go; >ready; exec sleep 1000", func(s *stage, d *plan.Process) {
			d.Ready.Exec = []string{"/bin/sh", "-c", `test -e ready && test "$COSIM_PROCESS" = m/d`}
		}, func(s *stage, d *plan.Process) bool { return s.has("ready", "") }},
		{"socket", "", func(s *stage, d *plan.Process) {
			stale(s.t, s.path("d.sock"))
			s.helper(d, "listen", s.path("d.sock"))
			d.Ready.Socket = s.path("d.sock")
		}, func(s *stage, d *plan.Process) bool {
			conn, err := net.Dial("unix", d.Ready.Socket)
			if err == nil {
				conn.Close()
			}
			return err == nil
		}},
		{"all at once", "echo up; >one; read x <go; >ready; exec sleep 1000", func(s *stage, d *plan.Process) {
			d.Ready = adapters.Ready{Log: "up", File: s.path("ready"), Exec: []string{"/bin/sh", "-c", "test -e one"}}
		}, func(s *stage, d *plan.Process) bool { return s.has("ready", "") && s.has("one", "") }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.gate("go")
			d := s.device("m", "d", tt.script)
			d.Stop.Grace = "1ms"
			tt.stage(s, d)
			s.vhost("m", "exit 0")
			s.on("m/d", Starting, func() { s.open("go") })
			s.on("m/d", Ready, func() {
				if !tt.holds(s, d) {
					t.Error("the process counts as ready, and is not")
				}
			})
			if err := s.run(context.Background()).Err(); err != nil {
				t.Error(err)
			}
			if states := s.states(); slices.Index(states, "m/d ready") > slices.Index(states, "m/vhost starting") {
				t.Errorf("states = %q", states)
			}
		})
	}
}

// has compares a file with what it should hold.
func (s *stage) has(name, want string) bool {
	got, err := os.ReadFile(s.path(name))
	return err == nil && string(got) == want
}

// stale leaves a socket that nobody serves.
func stale(t *testing.T, path string) {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
}

// The timeout counts from the process's own start, and its message says what is missing,
// with the last line of the log.
func TestNotReadyInTime(t *testing.T) {
	s := newStage(t)
	d := s.device("m", "d", `echo working; exec sleep 1000`)
	d.Timeout = "300ms"
	d.Ready = adapters.Ready{
		Socket: s.path("d.sock"), File: s.path("d.file"), Log: "^up", QMP: s.path("d.qmp"),
		Exec: []string{"/bin/sh", "-c", "exit 3"},
	}
	for _, path := range []string{d.Ready.Socket, d.Ready.QMP} {
		stale(t, path)
	}
	os.WriteFile(d.Ready.File, nil, 0o600)
	s.vhost("m", "exit 0")
	result := s.run(context.Background())
	want := `device "d" (test-device) was not ready after TIME: no socket at DIR/d.sock, no file at DIR/d.file, no line of its log matches "^up", ` +
		`its probe "/bin/sh -c exit 3" failed: exit status 3, no answer from its monitor at DIR/d.qmp; last line of its log: working`
	if got := s.message(result); got != want {
		t.Errorf("message = %s\nwant      %s", got, want)
	}
	if f := result.First; f == nil || f.Reason != NotReady || f.ExitStatus != -1 {
		t.Errorf("First = %+v", f)
	}
	if got := s.state(result, s.procs[1]).State; got != NotStarted {
		t.Errorf("the vhost is %s, want %s", got, NotStarted)
	}
}

// A socket without anybody who listens does not count yet: a client would be refused.
func TestBoundSocketIsNotReady(t *testing.T) {
	s := newStage(t)
	d := s.device("m", "d", "")
	d.Ready.Socket, d.Timeout = s.path("d.sock"), "500ms"
	s.helper(d, "bind", d.Ready.Socket)
	s.vhost("m", "exit 0")
	result := s.run(context.Background())
	if got, want := s.message(result), `device "d" (test-device) was not ready after TIME: nobody listens on the socket at DIR/d.sock; last line of its log: bind: <nil>`; got != want {
		t.Errorf("message = %s, want %s", got, want)
	}
}

// A name that the kernel does not list, here a relative one, is taken as it is.
func TestSocketByAnotherName(t *testing.T) {
	s := newStage(t)
	d := s.device("m", "d", "")
	d.Ready.Socket, d.Stop.Grace = s.path("d.sock"), "1ms"
	s.helper(d, "listen", "d.sock")
	s.vhost("m", "exit 0")
	if err := s.run(context.Background()).Err(); err != nil {
		t.Error(err)
	}
}

func TestParseSocket(t *testing.T) {
	tests := []struct {
		line string
		want unixSocket
		ok   bool
	}{
		{"Num       RefCount Protocol Flags    Type St Inode Path", unixSocket{}, false},
		{"0000000000000000: 00000002 00000000 00010000 0001 01 12345 /run/a b.sock", unixSocket{true, "/run/a b.sock"}, true},
		{"0000000000000000: 00000002 00000000 00000000 0001 01 12345 /run/a.sock", unixSocket{false, "/run/a.sock"}, true},
		{"0000000000000000: 00000002 00000000 00000000 0002 01 12345 /dev/log", unixSocket{true, "/dev/log"}, true},
		{"0000000000000000: 00000003 00000000 00000000 0001 03 12345", unixSocket{}, false},
	}
	for _, tt := range tests {
		if got, ok := parseSocket(tt.line); ok != tt.ok || ok && got != tt.want {
			t.Errorf("parseSocket(%q) = %v, %v, want %v, %v", tt.line, got, ok, tt.want, tt.ok)
		}
	}
}

// A probe that does not end is ended with the session, with its children.
func TestExecProbeEndsWithTheSession(t *testing.T) {
	s := newStage(t)
	s.gate("probed")
	d := s.device("m", "d", "exec sleep 1000")
	d.Ready.Exec = []string{"/bin/sh", "-c", "echo x >probed; sleep 1000 & wait"}
	s.vhost("m", "exit 0")
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		s.line("probed")
		cancel()
	}()
	s.run(ctx)
}

// A process that was ready and ended before we saw it was ready nonetheless.
func TestReadyLineCountsAfterTheEnd(t *testing.T) {
	s := newStage(t)
	v := s.vhost("m", "echo up; >ready; exit 0")
	v.Ready = adapters.Ready{Log: "^up$", File: s.path("ready")}
	result := s.run(context.Background())
	if err := result.Err(); err != nil {
		t.Error(err)
	}
	if got := s.state(result, v); got.ReadyAt.IsZero() {
		t.Errorf("vhost = %+v, want it ready", got)
	}
}

// What is in the way of a process's own files is removed only where that is safe.
func TestStaleFiles(t *testing.T) {
	outside := t.TempDir()
	tests := []struct {
		name, path string // in the session's directory, unless absolute
		socket     bool   // the process makes a socket there
		make       func(t *testing.T, path string)
		message    string
	}{
		{"socket", "d.sock", true, stale, ""},
		{"file for a socket", "d.sock", true, makeFile, "device \"d\" (test-device) was not started: DIR/d.sock is in the way: it is a regular file"},
		{"socket for a file", "d.file", false, stale, "device \"d\" (test-device) was not started: DIR/d.file is in the way: it is a socket"},
		{"directory", "d.file", false, makeDir, "device \"d\" (test-device) was not started: DIR/d.file is in the way: it is a directory"},
		{"directory for a socket", "d.sock", true, makeDir, "device \"d\" (test-device) was not started: DIR/d.sock is in the way: it is a directory"},
		{"link", "d.file", false, makeLink, "device \"d\" (test-device) was not started: DIR/d.file is in the way: it is a symbolic link"},
		{"named pipe", "d.file", false, makePipe, "device \"d\" (test-device) was not started: DIR/d.file is in the way: it is a named pipe"},
		{"file outside", outside + "/file", false, makeFile, "device \"d\" (test-device) was not started: " + outside + "/file is there already, and stays because it lies outside the session"},
		{"file outside through a link", "away/linked", false, func(t *testing.T, path string) { makeFile(t, outside+"/linked") },
			"device \"d\" (test-device) was not started: DIR/away/linked is there already, and stays because it lies outside the session"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStage(t)
			if err := os.Symlink(outside, s.path("away")); err != nil {
				t.Fatal(err)
			}
			path := tt.path
			if path[0] != '/' {
				path = s.path(path)
			}
			tt.make(t, path)
			d := s.device("m", "d", "exec sleep 1000")
			d.Stop.Grace = "1ms"
			if tt.socket {
				d.Ready.Socket = path
				s.helper(d, "listen", path)
			} else {
				d.Ready.File = path
			}
			s.vhost("m", "exit 0")
			if got := s.message(s.run(context.Background())); got != tt.message {
				t.Errorf("message = %s\nwant      %s", got, tt.message)
			}
			if _, err := os.Lstat(path); err != nil && tt.message != "" {
				t.Errorf("what was in the way is gone: %v", err)
			}
		})
	}
}

func makeFile(t *testing.T, path string) {
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

func makeDir(t *testing.T, path string) {
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
}

func makeLink(t *testing.T, path string) {
	if err := os.Symlink("/etc/passwd", path); err != nil {
		t.Fatal(err)
	}
}

func makePipe(t *testing.T, path string) {
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestFailedStarts(t *testing.T) {
	tests := []struct {
		name    string
		change  func(s *stage, v *plan.Process)
		message string
	}{
		{"no program", func(s *stage, v *plan.Process) { v.Program = s.path("none") },
			`vhost of machine "m" (test-vhost) was not started: executing DIR/none: no such file or directory`},
		{"not executable", func(s *stage, v *plan.Process) {
			v.Program = s.path("file")
			os.WriteFile(v.Program, []byte("x"), 0o600)
		}, `vhost of machine "m" (test-vhost) was not started: executing DIR/file: permission denied`},
		{"no interpreter", func(s *stage, v *plan.Process) {
			v.Program = s.path("script")
			os.WriteFile(v.Program, []byte("#!/no/such/interpreter\n"), 0o700)
		}, `vhost of machine "m" (test-vhost) was not started: executing DIR/script: the interpreter that it names is not there`},
		{"no working directory", func(s *stage, v *plan.Process) { v.Dir = s.path("none") },
			`vhost of machine "m" (test-vhost) was not started: its working directory: stat DIR/none: no such file or directory`},
		{"a file for a working directory", func(s *stage, v *plan.Process) {
			v.Dir = s.path("file")
			os.WriteFile(v.Dir, nil, 0o600)
		}, `vhost of machine "m" (test-vhost) was not started: its working directory DIR/file is not a directory`},
		{"no place for the log", func(s *stage, v *plan.Process) { v.Log = s.path("none/log") },
			`vhost of machine "m" (test-vhost) was not started: opening its log: open DIR/none/log: no such file or directory`},
		{"a link for the log", func(s *stage, v *plan.Process) { os.Symlink("/dev/null", v.Log) },
			`vhost of machine "m" (test-vhost) was not started: opening its log: open DIR/m-vhost.log: too many levels of symbolic links`},
		{"a file for a directory", func(s *stage, v *plan.Process) {
			os.WriteFile(s.path("file"), nil, 0o600)
			v.Dirs = []string{s.path("file")}
		}, `vhost of machine "m" (test-vhost) was not started: making its directory: mkdir DIR/file: not a directory`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStage(t)
			d := s.device("m", "d", "exec sleep 1000")
			v := s.vhost("m", "exit 0")
			tt.change(s, v)
			result := s.run(context.Background())
			if got := s.message(result); got != tt.message {
				t.Errorf("message = %s\nwant      %s", got, tt.message)
			}
			if f := result.First; f == nil || f.Reason != NotExecuted || f.After != 0 {
				t.Errorf("First = %+v", f)
			}
			if got := s.state(result, d).Signal; got != "SIGTERM" {
				t.Errorf("the device ended by %q, want it stopped", got)
			}
		})
	}
}
