package relaytest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/cartridge"
	"github.com/cosim-go/cosim/relay/host"
	"github.com/cosim-go/cosim/relay/relaytest"
	"github.com/cosim-go/cosim/relay/route"
)

// This program is the process in the middle as well.
const echoVariable = "RELAYTEST_ECHO"

func TestMain(m *testing.M) {
	if os.Getenv(echoVariable) == "" {
		os.Exit(m.Run())
	}
	if err := relaytest.EchoBlocks(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func quickly() *relaytest.MeasureOptions {
	return &relaytest.MeasureOptions{Rounds: 1, Round: time.Nanosecond}
}

func startSwitch(sockets []relaytest.Conn) (call.Opener, io.Closer, error) {
	var all []route.Socket
	for i, conn := range sockets {
		all = append(all, route.Socket{ID: fmt.Sprint("host-", i), Conn: conn})
	}
	s, err := route.New(context.Background(), all, nil)
	return s, s, err
}

// wantFigures expects figures of some names, each with what it is against.
func wantFigures(t *testing.T, figures []relaytest.Figure, err error, want ...string) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range figures {
		got = append(got, f.Name+" against "+f.Floor)
		if f.Frame <= 0 || f.Base <= 0 || f.Ratio <= 0 {
			t.Errorf("a figure without a value: %+v", f)
		}
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("figures = %q, want %q", got, want)
	}
}

// Requirement: D9
func TestMeasureSwitch(t *testing.T) {
	relaytest.NoLeaks(t)
	figures, err := relaytest.MeasureSwitch(relaytest.SocketPair, startSwitch, quickly())
	wantFigures(t, figures, err, "switch/masters=1/in-flight=1 against raw", "switch/masters=1/in-flight=32 against raw",
		"switch/masters=4/in-flight=32 against 1 master", "switch/masters=16/in-flight=32 against 1 master")
	for _, f := range figures {
		if f.Allocs == 0 {
			t.Errorf("%s takes no memory at all", f.Name)
		}
	}
}

// Rounds can have a number of frames, for counting memory: then they do not depend on how busy the machine is.
func TestMeasureFrames(t *testing.T) {
	relaytest.NoLeaks(t)
	requests := 0
	o := &relaytest.MeasureOptions{Rounds: 2, Frames: 50, Only: func(name string) bool { return strings.HasSuffix(name, "/in-flight=1") }}
	_, err := relaytest.MeasureSwitch(relaytest.SocketPair, func(sockets []relaytest.Conn) (call.Opener, io.Closer, error) {
		o, s, err := startSwitch(sockets)
		return openerFunc(func(ctx context.Context, r call.Request) (call.Link, error) {
			requests++
			return o.Open(ctx, r)
		}), s, err
	}, o)
	if err != nil || requests != 100 {
		t.Errorf("MeasureSwitch made %d requests: %v, want 2 rounds of 50", requests, err)
	}
}

type openerFunc func(context.Context, call.Request) (call.Link, error)

func (f openerFunc) Open(ctx context.Context, r call.Request) (call.Link, error) { return f(ctx, r) }

// What is asked for alone is measured.
func TestMeasureOnly(t *testing.T) {
	o := quickly()
	o.Only = func(name string) bool { return name == "switch/masters=4/in-flight=32" }
	figures, err := relaytest.MeasureSwitch(relaytest.SocketPair, startSwitch, o)
	wantFigures(t, figures, err, "switch/masters=4/in-flight=32 against 1 master")
}

// A switch that does not start closes nothing of its own, and nothing is left.
func TestMeasureSwitchSaysThatItDoesNotStart(t *testing.T) {
	relaytest.NoLeaks(t)
	refused := errors.New("no switch today")
	_, err := relaytest.MeasureSwitch(relaytest.SocketPair, func([]relaytest.Conn) (call.Opener, io.Closer, error) {
		return nil, nil, refused
	}, quickly())
	if !errors.Is(err, refused) {
		t.Errorf("MeasureSwitch = %v, want %v", err, refused)
	}
	opened := 0
	open := func() (a, b relaytest.Conn, err error) {
		if opened++; opened > 2 { // the second is that of the floor
			return nil, nil, refused
		}
		return relaytest.SocketPair()
	}
	o := quickly()
	o.Only = func(name string) bool { return strings.HasSuffix(name, "/masters=1/in-flight=32") }
	if _, err := relaytest.MeasureSwitch(open, startSwitch, o); !errors.Is(err, refused) {
		t.Errorf("MeasureSwitch = %v, want %v", err, refused)
	}
}

func echoProcess() *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), echoVariable+"=1")
	return cmd
}

// streamOf is a relay whose cartridge, in this process, answers what handle says.
func streamOf(handle cartridge.Handler) relaytest.Stream {
	return relaytest.Stream{Cap: "cap:stream", Echo: echoProcess, Start: func() (call.Opener, func() error, error) {
		c := cartridge.New("stream", "1.0.0", nil)
		c.Handle("cap:stream", "Stream", handle)
		h, m := host.New(nil), c.Manifest()
		if err := h.Register(host.Registration{Install: m.Install(), Groups: m.Groups, Provider: host.Handlers(c)}); err != nil {
			return nil, nil, err
		}
		near, far, err := relaytest.SocketPair()
		if err != nil {
			return nil, nil, err
		}
		done := make(chan error, 1)
		go func() { done <- h.Run(context.Background(), far) }()
		o, s, err := startSwitch([]relaytest.Conn{near})
		return o, func() error { return errors.Join(s.Close(), <-done) }, err
	}}
}

func echoed(r *cartridge.Request, most int64) error {
	in, err := r.Next()
	if err == nil {
		_, err = io.Copy(r.Output("media:", nil), io.LimitReader(in, most))
	}
	return err
}

// Requirement: D9
func TestMeasureStream(t *testing.T) {
	relaytest.NoLeaks(t)
	figures, err := relaytest.MeasureStream(streamOf(func(_ context.Context, r *cartridge.Request) error {
		return echoed(r, 1<<62)
	}), quickly())
	wantFigures(t, figures, err, "stream/payload=256KiB against copy that hashes")
}

// A stream that is not the whole is no figure.
func TestMeasureStreamCountsWhatComesBack(t *testing.T) {
	relaytest.NoLeaks(t)
	for want, handle := range map[string]cartridge.Handler{
		"100 of 262144 bytes came back": func(_ context.Context, r *cartridge.Request) error { return echoed(r, 100) },
		"no stream today":               func(context.Context, *cartridge.Request) error { return errors.New("no stream today") },
	} {
		_, err := relaytest.MeasureStream(streamOf(handle), quickly())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("MeasureStream = %v, want %q", err, want)
		}
	}
}

// A program that is not there leaves nothing behind.
func TestMeasureStreamSaysThatTheProcessDoesNotStart(t *testing.T) {
	relaytest.NoLeaks(t)
	s := streamOf(func(_ context.Context, r *cartridge.Request) error { return echoed(r, 1<<62) })
	s.Echo = func() *exec.Cmd { return exec.Command(t.TempDir() + "/none") }
	if _, err := relaytest.MeasureStream(s, quickly()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("MeasureStream = %v, want %v", err, os.ErrNotExist)
	}
}

func TestEchoBlocks(t *testing.T) {
	const size = 256 << 10
	in := bytes.Repeat([]byte("0123456789abcdef"), 3*size/16)
	var out bytes.Buffer
	if err := relaytest.EchoBlocks(bytes.NewReader(in), &out); err != nil || !bytes.Equal(out.Bytes(), in) {
		t.Errorf("EchoBlocks = %v with %d bytes, want all %d", err, out.Len(), len(in))
	}
	if err := relaytest.EchoBlocks(bytes.NewReader(in[:size+1]), io.Discard); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("EchoBlocks of a part of a block = %v, want %v", err, io.ErrUnexpectedEOF)
	}
	if err := relaytest.EchoBlocks(bytes.NewReader(in), shortPipe()); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("EchoBlocks to a pipe that is closed = %v, want %v", err, io.ErrClosedPipe)
	}
}

func shortPipe() io.Writer {
	r, w := io.Pipe()
	r.Close()
	return w
}
