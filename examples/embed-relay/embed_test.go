package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/relaytest"
)

// The test's own program is the host too, so that this is there as a process of its own.
const hostVariable = "EMBED_RELAY_HOST"

func TestMain(m *testing.M) {
	if os.Getenv(hostVariable) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// Requirements: S5, S6, N3, ST1, ST2, PO1, C1, C2, C5, D9
func TestConversation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "relay.sock")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	var complaints bytes.Buffer
	host := exec.CommandContext(t.Context(), os.Args[0], path)
	host.Env, host.Stderr = append(os.Environ(), hostVariable+"=1"), &complaints
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	socket, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	said := converse(meet(t, socket))
	if err := host.Wait(); err != nil || complaints.Len() > 0 {
		t.Errorf("the host ends with %v and says %q, want nothing", err, complaints.String())
	}
	fmt.Print(said)
	if want := readme(t); said != want {
		t.Errorf("README.md has\n%s", want)
	}
}

// converse plays the engine and tells what happens.
func converse(e *engine) string {
	e.t.Helper()
	var said strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&said, format+"\n", args...) }
	must := func(err error) {
		e.t.Helper()
		if err != nil {
			e.t.Fatal(err)
		}
	}
	answer := func(c *call) {
		data, end, err := c.answer()
		if err != nil {
			say("  %v", err)
			return
		}
		say("  %q, then %q, succeeded: %t", data, end.Message, end.Succeeded())
	}
	say("the host offers %q", capsIn(e.t, e.master.Manifest()))
	must(e.master.SendPolicy(frame.Meta{}, []byte("nothing by night")))
	must(e.verify())
	say("the identity check passes")
	must(e.master.SendState([]byte(`{"gpus": 2}`)))
	say("there are GPUs: it offers %q", e.nextOffer())
	must(e.master.SendState([]byte(`{"gpus": 1}`))) // nothing new to offer
	say("a call:")
	c := e.begin(caps[1])
	c.stream("arg0", "one, ", "two, ", "three")
	answer(c)
	must(e.master.SendPolicy(frame.Meta{}, []byte("nothing at all")))
	say("another call, under a newer policy:")
	c = e.begin(caps[1])
	c.stream("arg0")
	answer(c)
	say("a call of what it does not offer:")
	c = e.begin("cap:out=media:void;sing")
	c.stream("arg0", "la")
	answer(c)
	say("a call that is cancelled:")
	c = e.begin(caps[1])
	cancel, err := frame.NewCancel(c.id, false, frame.CancelReason{})
	must(err)
	c.send(cancel)
	answer(c)
	must(e.master.SendState([]byte(`{"gpus": 0}`)))
	say("the GPUs are gone: it offers %q", e.nextOffer())
	must(e.master.Close())
	return said.String()
}

// readme returns the conversation as README.md has it.
func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "    === RUN   TestConversation\n")
	said, _, _ := strings.Cut(rest, "    --- PASS")
	return strings.ReplaceAll(strings.TrimPrefix(said, "    "), "\n    ", "\n")
}

// served runs the host in this process.
func served(t *testing.T, ctx context.Context) (e *engine, ended chan error) {
	t.Helper()
	relaytest.NoLeaks(t)
	host, socket, err := relaytest.SocketPair()
	if err != nil {
		t.Fatal(err)
	}
	ended = make(chan error, 1)
	go func() { ended <- serve(ctx, host) }()
	e = meet(t, socket.(net.Conn))
	t.Cleanup(func() {
		e.master.Close()
		for range e.frames {
		}
	})
	return e, ended
}

// Requirement: C5
func TestTheHostEndsWhenTheSwitchCloses(t *testing.T) {
	for _, at := range []struct {
		name  string
		reach func(e *engine)
	}{
		{"at rest", func(*engine) {}},
		{"after a check", func(e *engine) { e.verify() }},
		{"within a request", func(e *engine) {
			c := e.begin(caps[0])
			c.send(frame.NewStreamStart(c.id, []byte("arg0"), []byte("media:")))
			e.next()
		}},
	} {
		t.Run(at.name, func(t *testing.T) {
			e, ended := served(t, t.Context())
			at.reach(e)
			e.master.Close()
			if err := <-ended; err != nil {
				t.Errorf("serve = %v", err)
			}
		})
	}
}

// Requirement: C5. What the switch asked before it ended its direction is still answered.
func TestTheHostAnswersWhatWasAskedBeforeTheEnd(t *testing.T) {
	e, ended := served(t, t.Context())
	c := e.begin(caps[0])
	c.stream("arg0", "last words")
	e.master.CloseWrite()
	if data, end, err := c.answer(); string(data) != "last words" || !end.Succeeded() || err != nil {
		t.Errorf("answer = %q, %+v, %v", data, end, err)
	}
	if _, more := <-e.frames; more || e.err != nil {
		t.Errorf("more frames: %t, error %v, want the end", more, e.err)
	}
	if err := <-ended; err != nil {
		t.Errorf("serve = %v", err)
	}
}

func TestTheHostEndsWithItsContext(t *testing.T) {
	cause := errors.New("stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	_, ended := served(t, ctx)
	cancel(cause)
	if err := <-ended; err != cause {
		t.Errorf("serve = %v, want %v", err, cause)
	}
}

// Each CHUNK that the caller takes is room for another one, beyond the credit at the beginning.
func TestAStreamMayBeLongerThanItsCredit(t *testing.T) {
	e, _ := served(t, t.Context())
	const chunks = 3 * frame.DefaultCredit
	c := e.begin(caps[0])
	c.send(frame.NewStreamStart(c.id, []byte("arg0"), []byte("media:")))
	credit, sent := frame.DefaultCredit, 0
	for got := 0; got < chunks; {
		for ; credit > 0 && sent < chunks; credit, sent = credit-1, sent+1 {
			c.send(frame.NewChunk(c.id, []byte("arg0"), uint64(sent), []byte{byte(sent)}, 0))
		}
		switch f := e.next(); f.Type {
		case frame.TypeChunk:
			if !slices.Equal(f.Payload, []byte{byte(got)}) {
				t.Fatalf("chunk %d holds %x", got, f.Payload)
			}
			got++
			c.send(frame.NewCredit(c.id, []byte("arg0"), 1, frame.ResponseDirection))
		case frame.TypeCredit:
			if f.CreditDirection() != frame.RequestDirection {
				t.Errorf("credit for %v", f.CreditDirection())
			}
			credit += int(f.Credit.Or(0))
		}
	}
}

// The program is meant to be read and copied: it has to stay short.
func TestTheProgramIsShort(t *testing.T) {
	text, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
			lines++
		}
	}
	if lines >= 100 {
		t.Errorf("main.go has %d lines of code, want less than 100", lines)
	}
}
