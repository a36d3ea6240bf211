package execenv

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cosim-go/cosim/topology/layout"
)

func env(vars map[string]string) func(string) string {
	return func(name string) string { return vars[name] }
}

func gather(t *testing.T, o Options) ExecEnv {
	t.Helper()
	e, err := Gather(&o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// Requirement: X1
func TestGatherMakesPathAbsolute(t *testing.T) {
	e := gather(t, Options{
		WorkDir: "/w/d",
		Getenv:  env(map[string]string{"HOME": "/home/u", "PATH": ":/usr/bin/:bin::../sbin:/usr/bin"}),
	})
	want := []string{"/usr/bin", "/w/d/bin", "/w/sbin", "/usr/bin"}
	if !slices.Equal(e.Path, want) {
		t.Errorf("Path = %q, want %q", e.Path, want)
	}
	if e.WorkDir != "/w/d" || e.ShmDir != "/dev/shm" {
		t.Errorf("WorkDir, ShmDir = %q, %q, want /w/d, /dev/shm", e.WorkDir, e.ShmDir)
	}
}

// Requirement: X1
func TestGatherRecordsThePageSize(t *testing.T) {
	e := gather(t, Options{Getenv: env(map[string]string{"HOME": "/h"})})
	if e.PageSize != layout.Size(os.Getpagesize()) || !layout.ValidPage(e.PageSize) {
		t.Errorf("PageSize = %d, want %d", e.PageSize, os.Getpagesize())
	}
	if !filepath.IsAbs(e.WorkDir) {
		t.Errorf("WorkDir = %q, want an absolute path", e.WorkDir)
	}
}

func TestGatherWithoutPathHasNoDirectories(t *testing.T) {
	e := gather(t, Options{Getenv: env(map[string]string{"HOME": "/h"})})
	if e.Path == nil || len(e.Path) != 0 {
		t.Errorf("Path = %#v, want an empty list", e.Path)
	}
}

// Requirement: X1
func TestDiskLockDir(t *testing.T) {
	passwd := filepath.Join(t.TempDir(), "passwd")
	line := "root:x:0:0:root:/wrong:/bin/sh\nme:x:" + itoa(os.Getuid()+100000) + ":0:a:/other:/bin/sh\n"
	if err := os.WriteFile(passwd, []byte(strings.Replace(line, ":0:0:", ":"+itoa(os.Getuid())+":0:", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		vars map[string]string
		want string
	}{
		"the variable":                {map[string]string{"COSIM_DISK_LOCK_DIR": "/var/lock/cosim", "HOME": "/h"}, "/var/lock/cosim"},
		"a relative variable":         {map[string]string{"COSIM_DISK_LOCK_DIR": "locks"}, "/w/locks"},
		"an empty variable":           {map[string]string{"COSIM_DISK_LOCK_DIR": "", "HOME": "/h"}, "/h/.cache/cosim-gpu/disk-locks"},
		"home":                        {map[string]string{"HOME": "/h"}, "/h/.cache/cosim-gpu/disk-locks"},
		"XDG_CACHE_HOME does nothing": {map[string]string{"HOME": "/h", "XDG_CACHE_HOME": "/c"}, "/h/.cache/cosim-gpu/disk-locks"},
		"the password file":           {nil, "/wrong/.cache/cosim-gpu/disk-locks"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			e := gather(t, Options{WorkDir: "/w", Getenv: env(tt.vars), Passwd: passwd})
			if e.DiskLockDir != tt.want {
				t.Errorf("DiskLockDir = %q, want %q", e.DiskLockDir, tt.want)
			}
		})
	}
}

func itoa(n int) string { return strconv.Itoa(n) }

func TestGatherWithoutAHomeSaysWhatToSet(t *testing.T) {
	_, err := Gather(&Options{Getenv: env(nil), Passwd: filepath.Join(t.TempDir(), "none")})
	if err == nil || !strings.Contains(err.Error(), "HOME and COSIM_DISK_LOCK_DIR are not set") {
		t.Errorf("Gather = %v, want an error that names the variables", err)
	}
}

func TestRuntimeDir(t *testing.T) {
	own := t.TempDir()
	long := filepath.Join(own, strings.Repeat("d", maxRuntimeDir))
	quoted := filepath.Join(own, `a"b`)
	for _, dir := range []string{long, quoted} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(own, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct{ dir, want string }{
		"one of our own":        {own + "/", own},
		"unset":                 {"", "/tmp"},
		"relative":              {"run", "/tmp"},
		"too long for sockets":  {long, "/tmp"},
		"not there":             {filepath.Join(own, "none"), "/tmp"},
		"a file":                {file, "/tmp"},
		"a quote in it":         {quoted, "/tmp"},
		"that of another user":  {foreignDir(t), "/tmp"},
		"a control character":   {own + "/\n", "/tmp"},
		"an invalid UTF-8 text": {own + "/\xff", "/tmp"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			e := gather(t, Options{Getenv: env(map[string]string{"HOME": "/h", "XDG_RUNTIME_DIR": tt.dir})})
			if e.RuntimeDir != tt.want {
				t.Errorf("RuntimeDir = %q, want %q", e.RuntimeDir, tt.want)
			}
		})
	}
}

// foreignDir is a directory of another user: "/" belongs to root, and root can give one away.
func foreignDir(t *testing.T) string {
	if os.Getuid() != 0 {
		return "/"
	}
	dir := t.TempDir()
	if err := os.Chown(dir, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestLongestRuntimeDirHoldsEverySocket(t *testing.T) {
	path := strings.Repeat("d", maxRuntimeDir) + "/cosim-0123abcd/" + itoa(4096*(2*1024+2)-1) + ".sock"
	if len(path) != 107 {
		t.Errorf("the longest socket path has %d bytes, want 107", len(path))
	}
}

func TestKVMNeedsTheDevice(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "kvm")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, device := range []string{filepath.Join(dir, "none"), file, "/dev/null", dir} {
		if usableKVM(device) {
			t.Errorf("usableKVM(%q) = true, want false", device)
		}
	}
}
