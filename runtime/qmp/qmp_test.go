package qmp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const greeting = `{"QMP": {"version": {"qemu": {"micro": 22, "minor": 2, "major": 7}, "package": "Debian"}, "capabilities": ["oob"]}}` + "\r\n"

// serve answers one client with a script and returns the socket's path.
func serve(t *testing.T, script func(in *bufio.Reader, out io.Writer)) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "qmp.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() { l.Close(); <-done })
	go func() {
		defer close(done)
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		script(bufio.NewReader(conn), conn)
	}()
	return path
}

// request reads one request of the client.
func request(in *bufio.Reader) (command string, id uint64) {
	var r struct {
		Execute string
		ID      uint64
	}
	line, _ := in.ReadBytes('\n')
	json.Unmarshal(line, &r)
	return r.Execute, r.ID
}

func dial(t *testing.T, path string) *Client {
	t.Helper()
	c, err := Dial(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func TestExecuteSkipsEventsAndOldAnswers(t *testing.T) {
	c := dial(t, serve(t, func(in *bufio.Reader, out io.Writer) {
		io.WriteString(out, greeting)
		_, id := request(in)
		fmt.Fprintf(out, `{"return": {}, "id": %d}`+"\r\n", id)
		_, id = request(in)
		fmt.Fprintf(out, `{"event": "STOP", "timestamp": {}}`+"\r\n"+`{"return": "old", "id": %d}`+"\r\n"+`{"return": "new", "id": %d}`+"\r\n", id-1, id)
	}))
	want := Greeting{7, 2, 22, "Debian", []string{"oob"}}
	if got := c.Greeting(); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("Greeting() = %v, want %v", got, want)
	}
	if err := c.Negotiate(t.Context()); err != nil {
		t.Fatal(err)
	}
	got, err := c.Execute(t.Context(), "query-status", nil)
	if err != nil || string(got) != `"new"` {
		t.Errorf("Execute() = %s, %v, want \"new\"", got, err)
	}
}

func TestRefusedCommandLeavesTheClientUsable(t *testing.T) {
	c := dial(t, serve(t, func(in *bufio.Reader, out io.Writer) {
		io.WriteString(out, greeting)
		_, id := request(in)
		fmt.Fprintf(out, `{"id": %d, "error": {"class": "CommandNotFound", "desc": "no such command"}}`+"\r\n", id)
		_, id = request(in)
		fmt.Fprintf(out, `{"id": %d, "return": {}}`+"\r\n", id)
	}))
	_, err := c.Execute(t.Context(), "dance", nil)
	var refused *Error
	if !errors.As(err, &refused) || refused.Class != "CommandNotFound" {
		t.Fatalf("Execute(dance) = %v, want CommandNotFound", err)
	}
	if _, err := c.Execute(t.Context(), "stop", nil); err != nil {
		t.Errorf("Execute(stop) after a refusal = %v", err)
	}
}

// A monitor that greets and then serves nothing is what a QEMU shows that waits for
// its remote device.
func TestContextEndsAnExchange(t *testing.T) {
	release := make(chan struct{})
	c := dial(t, serve(t, func(in *bufio.Reader, out io.Writer) {
		io.WriteString(out, greeting)
		request(in)
		<-release
	}))
	defer close(release)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := c.Negotiate(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("Negotiate() = %v, want %v", err, context.DeadlineExceeded)
	}
	if _, err := c.Execute(t.Context(), "quit", nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Execute() after a cut exchange = %v, want the error that cut it", err)
	}
}

func TestContextEndsDial(t *testing.T) {
	release := make(chan struct{})
	path := serve(t, func(*bufio.Reader, io.Writer) { <-release })
	defer close(release)
	cause := errors.New("stop it")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(10*time.Millisecond, func() { cancel(cause) })
	if _, err := Dial(ctx, path); !errors.Is(err, cause) {
		t.Errorf("Dial() = %v, want %v", err, cause)
	}
}

func TestBadGreetings(t *testing.T) {
	tests := []struct {
		name, send string
		want       error
	}{
		{"another protocol", "SSH-2.0-x\n", nil},
		{"other JSON", "{}\n", nil},
		{"cut", greeting[:20], io.ErrUnexpectedEOF},
		{"closed", "", io.EOF},
		{"endless", strings.Repeat("x", MaxLine+1), ErrLineTooLong},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Dial(t.Context(), serve(t, func(_ *bufio.Reader, out io.Writer) { io.WriteString(out, tt.send) }))
			if err == nil || tt.want != nil && !errors.Is(err, tt.want) {
				t.Errorf("Dial() = %v, want %v", err, tt.want)
			}
		})
	}
}

func TestLongLineIsReadWhole(t *testing.T) {
	long := bytes.Repeat([]byte("y"), MaxLine/2)
	c := dial(t, serve(t, func(in *bufio.Reader, out io.Writer) {
		io.WriteString(out, greeting)
		_, id := request(in)
		fmt.Fprintf(out, `{"return": "%s", "id": %d}`+"\r\n", long, id)
	}))
	got, err := c.Execute(t.Context(), "query-qmp-schema", nil)
	if err != nil || len(got) != len(long)+2 {
		t.Errorf("Execute() = %d bytes, %v, want %d", len(got), err, len(long)+2)
	}
}

func TestWithRealQEMU(t *testing.T) {
	path := filepath.Join(t.TempDir(), "qmp.sock")
	ready, qemuReady, err := os.Pipe() // QEMU closes it when it becomes a daemon or ends
	if err != nil {
		t.Fatal(err)
	}
	defer ready.Close()
	cmd := exec.Command("qemu-system-x86_64", "-S", "-nodefaults", "-display", "none", "-machine", "none",
		"-chardev", "file,id=unused,path=/dev/null", "-qmp", "unix:"+path+",server=on,wait=on")
	cmd.Stderr = qemuReady // "waiting for connection" is said once the socket listens
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	qemuReady.Close()
	defer cmd.Process.Kill()
	line, err := bufio.NewReader(ready).ReadString('\n')
	if err != nil {
		t.Fatalf("QEMU said %q, then %v", line, err)
	}
	c := dial(t, path)
	if c.Greeting().Major < 6 {
		t.Errorf("Greeting() = %+v", c.Greeting())
	}
	if err := c.Negotiate(t.Context()); err != nil {
		t.Fatal(err)
	}
	got, err := c.Execute(t.Context(), "query-status", nil)
	if err != nil || !strings.Contains(string(got), `"prelaunch"`) {
		t.Errorf("query-status = %s, %v, want prelaunch", got, err)
	}
	_, err = c.Execute(t.Context(), "device_add", map[string]string{"driver": "no-such-model"})
	var refused *Error
	if !errors.As(err, &refused) {
		t.Errorf("device_add of an unknown model = %v, want an *Error", err)
	}
	if _, err := c.Execute(t.Context(), "quit", nil); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("QEMU ended with %v", err)
	}
}
