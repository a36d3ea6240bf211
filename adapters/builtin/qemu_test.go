package builtin_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cosim-go/cosim/adapters"
)

const qemu = "qemu-system-x86_64"

// patience bounds what real processes may take, on a machine that is busy with other things.
const patience = 2 * time.Minute

// needQEMU ends a test that starts QEMU: skipped with -short, failed where there is none.
func needQEMU(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts QEMU")
	}
	if _, err := exec.LookPath(qemu); err != nil {
		t.Fatal(err)
	}
}

// channels makes the socket pairs that commands name, and gives each process its ends.
type channels map[string]*[2]*os.File

func (c channels) ends(t *testing.T, fds []adapters.FD) []*os.File {
	t.Helper()
	files := make([]*os.File, len(fds))
	for i, fd := range fds {
		if fd.Number != adapters.FirstFD+i {
			t.Fatalf("descriptor %d of a process has number %d, want %d", i, fd.Number, adapters.FirstFD+i)
		}
		pair, ok := c[fd.Channel]
		if !ok {
			pair = &[2]*os.File{}
			two, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
			if err != nil {
				t.Fatal(err)
			}
			pair[0], pair[1] = os.NewFile(uintptr(two[0]), "device"), os.NewFile(uintptr(two[1]), "vhost")
			c[fd.Channel] = pair
			files[i] = pair[0]
			continue
		}
		files[i] = pair[1]
	}
	return files
}

func (c channels) close() {
	for _, pair := range c {
		pair[0].Close()
		pair[1].Close()
	}
}

// A process is a program that was started by a test.
type process struct {
	id     string
	cmd    *exec.Cmd
	output *buffer
	done   chan struct{} // closed when it has ended
}

// start starts a program. The test's end kills what is left of it.
func start(t *testing.T, id, program string, args []string, files []*os.File) *process {
	t.Helper()
	p := &process{id: id, cmd: exec.Command(program, args...), output: &buffer{}, done: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr, p.cmd.ExtraFiles = p.output, p.output, files
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { defer close(p.done); _ = p.cmd.Wait() }()
	t.Cleanup(func() { _ = p.cmd.Process.Kill(); <-p.done })
	return p
}

// exit waits for the end and returns the exit status, -1 for a signal.
func (p *process) exit(t *testing.T) int {
	t.Helper()
	select {
	case <-p.done:
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(patience):
		t.Fatalf("%s is still running; its output:\n%s", p.id, p.output)
		return 0
	}
}

// A buffer may be written and read at the same time.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// A monitor is a connection to a QEMU that has answered.
type monitor struct {
	of   *process
	conn net.Conn
	r    *bufio.Reader
}

// connect opens the monitor of a running process as soon as it is there.
func connect(t *testing.T, p *process, socket string) *monitor {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(patience)
	for {
		conn, err := net.Dial("unix", socket)
		if err == nil {
			m := &monitor{p, conn, bufio.NewReader(conn)}
			t.Cleanup(func() { conn.Close() })
			if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
				t.Fatal(err)
			}
			if _, err := m.r.ReadString('\n'); err != nil {
				t.Fatalf("%s greets nobody: %v; its output:\n%s", p.id, err, p.output)
			}
			m.execute(t, "qmp_capabilities", nil, nil)
			return m
		}
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ECONNREFUSED) {
			t.Fatalf("monitor of %s: %v", p.id, err)
		}
		select {
		case <-p.done:
			t.Fatalf("%s ended with %v; its output:\n%s", p.id, p.cmd.ProcessState, p.output)
		case <-deadline:
			t.Fatalf("%s has no monitor; its output:\n%s", p.id, p.output)
		case <-tick.C:
		}
	}
}

// execute runs one command and decodes what it returns, unless result is nil.
func (m *monitor) execute(t *testing.T, command string, arguments, result any) {
	t.Helper()
	request := map[string]any{"execute": command}
	if arguments != nil {
		request["arguments"] = arguments
	}
	if err := json.NewEncoder(m.conn).Encode(request); err != nil {
		t.Fatalf("%s: %v; output of %s:\n%s", command, err, m.of.id, m.of.output)
	}
	for {
		line, err := m.r.ReadString('\n')
		if err != nil {
			t.Fatalf("%s: %v; output of %s:\n%s", command, err, m.of.id, m.of.output)
		}
		var reply struct {
			Return json.RawMessage
			Error  *struct{ Desc string }
			Event  string
		}
		if err := json.Unmarshal([]byte(line), &reply); err != nil {
			t.Fatalf("%s: %v in %q", command, err, line)
		}
		switch {
		case reply.Event != "":
			continue
		case reply.Error != nil:
			t.Fatalf("%s: %s", command, reply.Error.Desc)
		case result != nil:
			if err := json.Unmarshal(reply.Return, result); err != nil {
				t.Fatalf("%s: %v", command, err)
			}
		}
		return
	}
}

// A pciDevice is an entry of query-pci.
type pciDevice struct {
	Bus, Slot, Function int
	QdevID              string `json:"qdev_id"`
	ID                  struct{ Vendor, Device int }
	Regions             []struct {
		Bar     int
		Type    string
		Address int64 // -1 until it is assigned
		Size    int64
	}
	Bridge *struct{ Devices []pciDevice } `json:"pci_bridge"`
}

// queryPCI lists the devices on all buses by their identifiers.
func (m *monitor) queryPCI(t *testing.T) map[string]pciDevice {
	t.Helper()
	var buses []struct{ Devices []pciDevice }
	m.execute(t, "query-pci", nil, &buses)
	found := map[string]pciDevice{}
	var walk func([]pciDevice)
	walk = func(list []pciDevice) {
		for _, d := range list {
			if d.QdevID != "" {
				found[d.QdevID] = d
			}
			if d.Bridge != nil {
				walk(d.Bridge.Devices)
			}
		}
	}
	for _, b := range buses {
		walk(b.Devices)
	}
	return found
}

func (d pciDevice) String() string {
	return fmt.Sprintf("%02x:%02x.%x %s %v", d.Bus, d.Slot, d.Function, d.QdevID, d.Regions)
}

// assigned reports whether every BAR has an address.
func (d pciDevice) assigned() bool {
	for _, r := range d.Regions {
		if r.Address < 0 {
			return false
		}
	}
	return len(d.Regions) > 0
}

// refusal is the first line that a QEMU that cannot start says, without its own name and
// the argument that it quotes.
func (p *process) refusal() string {
	line, _, _ := strings.Cut(p.output.String(), "\n")
	return line
}

// quit asks QEMU to end and waits until it has closed the monitor: a command whose
// connection closes before QEMU has read it is lost.
func (m *monitor) quit() {
	_, _ = m.conn.Write([]byte(`{"execute":"quit"}` + "\n"))
	_, _ = io.Copy(io.Discard, m.r)
	m.conn.Close()
}
