package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
)

// stubQEMU is a qemu-system-x86_64 without a guest: it says what it offers, checks its
// memory, joins its devices and serves its monitor. With STUB_GUEST=poweroff the guest
// powers off once somebody has spoken to the monitor.
func stubQEMU() {
	switch args := strings.Join(os.Args[1:], " "); args {
	case "-version":
		fmt.Println("QEMU emulator version 10.1.0 (a stub of cosim's tests)")
	case "-device help":
		fmt.Println("Misc devices:\nname \"vfio-user-pci\", bus PCI, desc \"VFIO over socket PCI device assignment\"")
	case "-object help":
		fmt.Println("List of user creatable objects:\n  memory-backend-file")
	default:
		stubMain(runStubQEMU(os.Args[1:]))
	}
}

// stubGem5 is a gem5.opt that runs mi300_cosim.py without a GPU: it checks the memory
// that it is given, serves its socket and leaves with its client.
func stubGem5() { stubMain(runStubGem5(os.Args[1:])) }

func stubMain(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func runStubQEMU(args []string) error {
	memory, err := strconv.ParseInt(strings.TrimSuffix(after(args, "-m", ""), "M"), 10, 32)
	if err != nil {
		return fmt.Errorf("-m: %w", err)
	}
	backend := option(after(args, "-object", "memory-backend-file"), "mem-path")
	if err := wantFile(backend, memory<<20); err != nil {
		return err
	}
	for i := range args {
		if args[i] != "-device" {
			continue
		}
		var device struct{ Socket struct{ Path string } }
		if err := json.Unmarshal([]byte(args[i+1]), &device); err != nil {
			return err
		}
		conn, err := net.Dial("unix", device.Socket.Path)
		if err != nil {
			return err
		}
		defer conn.Close()
	}
	return serveMonitor(option(after(args, "-chardev", "socket,id=cosim.qmp"), "path"))
}

// serveMonitor answers every command, and returns after quit.
func serveMonitor(socket string) error {
	l, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	defer l.Close()
	for {
		conn, err := l.Accept()
		if err != nil {
			return err
		}
		quit := converse(conn)
		conn.Close()
		if quit || os.Getenv("STUB_GUEST") == "poweroff" {
			return nil
		}
	}
}

func converse(conn net.Conn) (quit bool) {
	fmt.Fprintln(conn, `{"QMP": {"version": {"qemu": {"micro": 0, "minor": 1, "major": 10}, "package": ""}, "capabilities": []}}`)
	lines := bufio.NewScanner(conn)
	for lines.Scan() {
		var command struct {
			Execute string
			ID      json.RawMessage
		}
		if json.Unmarshal(lines.Bytes(), &command) != nil {
			return false
		}
		fmt.Fprintf(conn, "{\"return\": {}, \"id\": %s}\n", command.ID)
		if command.Execute == "quit" {
			return true
		}
	}
	return false
}

func runStubGem5(args []string) error {
	value := func(name string) string {
		for _, arg := range args {
			if v, ok := strings.CutPrefix(arg, "--"+name+"="); ok {
				return v
			}
		}
		return ""
	}
	vram, err := strconv.ParseInt(strings.TrimSuffix(value("dgpu-mem-size"), "MiB"), 10, 32)
	offset, err2 := strconv.ParseInt(value("shmem-offset"), 10, 64)
	if err := errors.Join(err, err2, wantFile(value("shmem-path"), offset+vram<<20)); err != nil {
		return err
	}
	socket := value("socket-path")
	l, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	defer l.Close()
	fmt.Fprintf(os.Stderr, "src/dev/amdgpu/mi300x_vfio_user.cc:230: info: MI300XVfioUser: listening on %s (vfio-user protocol)\n", socket)
	conn, err := l.Accept()
	if err != nil {
		return err
	}
	io.Copy(io.Discard, conn)
	return nil
}

// wantFile wants a file of at least a size.
func wantFile(path string, size int64) error {
	info, err := os.Stat(path)
	if err == nil && info.Size() < size {
		return fmt.Errorf("%s has %d bytes, want %d", path, info.Size(), size)
	}
	return err
}

// after finds the value of an option that begins in a certain way.
func after(args []string, name, prefix string) string {
	for i := 0; i+1 < len(args); i++ {
		if args[i] == name && strings.HasPrefix(args[i+1], prefix) {
			return args[i+1]
		}
	}
	return ""
}

// option finds a property in the value of an option.
func option(value, name string) string {
	parts := strings.Split(value, ",")
	i := slices.IndexFunc(parts, func(p string) bool { return strings.HasPrefix(p, name+"=") })
	if i < 0 {
		return ""
	}
	return strings.TrimPrefix(parts[i], name+"=")
}
