package bridge_test

import (
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/cosim-go/cosim/relay/bridge"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/relaytest"
)

// Requirements: C1, R1. Whatever carries bytes both ways joins a slave and a master.
func TestASlaveAndAMasterOverAnyChannel(t *testing.T) {
	for _, transport := range relaytest.Transports() {
		t.Run(transport.Name, func(t *testing.T) {
			relaytest.NoLeaks(t)
			local, host := opened(t, transport)
			socket, link := opened(t, transport)
			ended := make(chan error)
			go func() { ended <- bridge.NewSlave(local, nil).Run(t.Context(), socket, ptr(offer("here"))) }()
			go echo(host)
			meetEcho(t, link, "here")
			if err := <-ended; err != nil {
				t.Errorf("Run = %v", err)
			}
		})
	}
}

// slaveSocket is the environment variable by which a process knows that it is the slave's.
const slaveSocket = "BRIDGE_SLAVE_SOCKET"

// Requirements: C1, R1
func TestASlaveAndAMasterInTwoProcesses(t *testing.T) {
	if path := os.Getenv(slaveSocket); path != "" {
		beSlave(t, path)
		return
	}
	path := filepath.Join(t.TempDir(), "relay.sock")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	other := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	other.Env = append(os.Environ(), slaveSocket+"="+path)
	other.Stderr = os.Stderr
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan error, 1)
	go func() {
		exited <- other.Wait()
		listener.Close() // nobody comes any more
	}()
	link, err := listener.Accept()
	if err != nil {
		t.Fatalf("the slave's process: %v", <-exited)
	}
	meetEcho(t, link.(*net.UnixConn), strconv.Itoa(other.Process.Pid))
	if err := <-exited; err != nil {
		t.Errorf("the slave's process: %v", err)
	}
}

// beSlave is what the slave's process does. It offers its own number.
func beSlave(t *testing.T, path string) {
	socket, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	local, host := relaytest.Pipe()
	go echo(host)
	if err := bridge.NewSlave(local, nil).Run(t.Context(), socket, ptr(offer(strconv.Itoa(os.Getpid())))); err != nil {
		t.Fatal(err)
	}
}

// echo is a host that sends back what it gets.
func echo(host relaytest.Conn) {
	io.Copy(host, host)
	host.Close()
}

// meetEcho is a switch whose host is an echo, which offers what is given.
func meetEcho(t *testing.T, link io.ReadWriteCloser, offers string) {
	t.Helper()
	m, err := bridge.Connect(t.Context(), link, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if got := string(m.Manifest()); got != offers {
		t.Errorf("Manifest = %s, want %s", got, offers)
	}
	all := []frame.Frame{req(0), chunk(1, 10), chunk(2, 100<<10), bodyEnd(3)}
	sent := make(chan error)
	go func() {
		for i := range all {
			if err := m.Send(&all[i]); err != nil {
				sent <- err
				return
			}
		}
		sent <- m.CloseWrite()
	}()
	for _, want := range all {
		expectFrame(t, m, want)
	}
	if err := <-sent; err != nil {
		t.Errorf("Send = %v", err)
	}
	if f, err := m.ReadFrame(); err != io.EOF {
		t.Errorf("ReadFrame = %v, %v, want EOF", f, err)
	}
}
