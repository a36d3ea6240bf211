package supervise

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cosim-go/cosim/runtime/plan"
)

// TestMain lets the test binary be its own guard and its own helper program, and fails
// a run that leaks a goroutine or a descriptor.
func TestMain(m *testing.M) {
	if GuardMain() {
		return
	}
	if len(os.Args) > 2 && os.Args[1] == "helper" {
		os.Exit(helper(os.Args[2], os.Args[3:]))
	}
	before := openFiles()
	code := m.Run()
	if code == 0 {
		code = leaks(before)
	}
	os.Exit(code)
}

// helper is what sh cannot do.
func helper(name string, args []string) int {
	switch name {
	case "listen": // make a socket, say so, and wait for a signal
		if _, err := net.Listen("unix", args[0]); err != nil {
			fmt.Println(err)
			return 1
		}
		fmt.Println("listening")
		unix.Pause()
	case "bind": // make a socket that nobody listens on
		fd, _ := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		fmt.Println("bind:", unix.Bind(fd, &unix.SockaddrUnix{Name: args[0]}))
		unix.Pause()
	case "supervise": // run the plan in a file, whose guard is left out on request
		var procs []plan.Process
		data, _ := os.ReadFile(args[0])
		if err := json.Unmarshal(data, &procs); err != nil {
			fmt.Println(err)
			return 1
		}
		fmt.Println(Run(context.Background(), procs, &Options{Mark: args[1], NoGuard: args[2] == "no-guard"}))
	}
	return 0
}

func openFiles() map[string]string {
	files := map[string]string{}
	names, _ := filepath.Glob("/proc/self/fd/*")
	for _, name := range names {
		if target, err := os.Readlink(name); err == nil {
			files[name] = target
		}
	}
	return files
}

// leaks reports what is there after the tests and was not before. What was closed just
// now may take a moment to go.
func leaks(before map[string]string) int {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	var left []string
	poll(ctx, func() bool {
		left = nil
		for name, target := range openFiles() {
			if _, ok := before[name]; !ok && !strings.HasPrefix(target, "anon_inode:") || strings.Contains(target, "pidfd") {
				left = append(left, name+" is "+target)
			}
		}
		var stacks bytes.Buffer
		pprof.Lookup("goroutine").WriteTo(&stacks, 2)
		for _, stack := range strings.Split(stacks.String(), "\n\n") {
			if strings.Contains(stack, "runtime/supervise") && !strings.Contains(stack, "TestMain") {
				left = append(left, stack)
			}
		}
		return len(left) == 0
	})
	if len(left) > 0 {
		fmt.Printf("FAIL: the tests leak:\n%s\n", strings.Join(left, "\n\n"))
		return 1
	}
	return 0
}
