package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/cartridge"
	"github.com/cosim-go/cosim/relay/frame"
)

// stubCartridge is a cartridge whose name and own cap, cap:<name>, are those that it is started under. It serves
//
//	cap:echo       its argument
//	cap:wait       nothing, until it is cancelled
//	cap:fail       an ERR
//	cap:several    two streams, of which the second is a sequence
//	cap:told       the policy and the state, once they are what the argument says
//	cap:die        its death
//	cap:child      the process ID of a child that outlives it
//	cap:ask        what another cartridge answers to the cap that its argument is
func stubCartridge() {
	name := filepath.Base(os.Args[0])
	fmt.Fprintln(os.Stderr, "hello from "+name)
	c := cartridge.New(name, "1.0", nil)
	for urn, h := range map[string]cartridge.Handler{
		"cap:" + name: stubName(name), "cap:echo": stubEcho, "cap:wait": stubWait, "cap:fail": stubFail,
		"cap:several": stubSeveral, "cap:told": stubTold, "cap:die": stubDie, "cap:child": stubChild, "cap:ask": stubAsk,
	} {
		c.Handle(urn, "a cap of "+name, h)
	}
	c.Main()
}

func stubName(name string) cartridge.Handler {
	return func(_ context.Context, r *cartridge.Request) error {
		_, err := fmt.Fprintf(r.Output("media:enc=utf-8", nil), "%s at your service\n", name)
		return err
	}
}

func stubEcho(_ context.Context, r *cartridge.Request) error {
	in, err := r.Next()
	if err != nil {
		return err
	}
	r.Log("info", frame.AttributionInternal, "echoing "+in.Media())
	r.Progress(0.5, "half way")
	_, err = io.Copy(r.Output(in.Media(), nil), in)
	return err
}

func stubWait(ctx context.Context, r *cartridge.Request) error {
	r.Progress(0.25, "waiting")
	r.Log("info", frame.AttributionInternal, "waiting")
	<-ctx.Done()
	fmt.Fprintln(os.Stderr, "no more waiting:", context.Cause(ctx))
	return context.Cause(ctx)
}

func stubFail(context.Context, *cartridge.Request) error {
	return &cartridge.Error{Code: "BAD_INPUT", Attribution: frame.AttributionInput, Message: "that\x1b[2J will not do", ArgURN: "media:x"}
}

func stubSeveral(_ context.Context, r *cartridge.Request) error {
	first := r.Output("media:ext=txt", nil)
	if _, err := io.WriteString(first, "first\n"); err != nil {
		return err
	}
	first.Close()
	second := r.Output("media:", &cartridge.OutputOptions{Sequence: true})
	for _, v := range []any{"a line", []byte("bytes\n"), map[string]int{"n": 3}} {
		if err := second.WriteValue(v); err != nil {
			return err
		}
	}
	return nil
}

func stubTold(ctx context.Context, r *cartridge.Request) error {
	in, err := r.Next()
	if err != nil {
		return err
	}
	want, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	for {
		policy, newPolicy := r.Policy()
		state, newState := r.ResourceState()
		got := fmt.Sprintf("%s,", state)
		if policy != nil {
			got = fmt.Sprintf("%s,%s", state, policy.Payload)
		}
		if got == string(want) {
			return nil
		}
		r.Log("info", frame.AttributionInternal, "told "+got)
		select {
		case <-newPolicy:
		case <-newState:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func stubDie(context.Context, *cartridge.Request) error {
	fmt.Fprintln(os.Stderr, "the last words")
	os.Exit(7)
	return nil
}

// stubChild starts a process in a session of its own, which nothing that the process does reaches.
func stubChild(_ context.Context, r *cartridge.Request) error {
	child := exec.Command("sleep", "1000")
	child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := child.Start(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(r.Output("media:", nil), child.Process.Pid)
	return err
}

func stubAsk(ctx context.Context, r *cartridge.Request) error {
	in, err := r.Next()
	if err != nil {
		return err
	}
	urn, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	answer, err := call.Do(ctx, r, string(urn))
	if err != nil {
		return err
	}
	_, err = r.Output("media:", nil).Write(answer)
	return err
}
