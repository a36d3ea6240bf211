package endtoend

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/cartridge"
	"github.com/cosim-go/cosim/relay/frame"
)

// serveCartridge is the program of a cartridge.
func serveCartridge() {
	name := os.Getenv(nameVariable)
	c := cartridge.New(name, "1.0.0", nil)
	c.Handle(capOf(name), "Do as the plan says", handle)
	c.Main()
}

// handle serves a request: it does what its plan says.
func handle(ctx context.Context, r *cartridge.Request) error {
	p, err := readPlan(r)
	if err != nil {
		return err
	}
	in, err := r.Next()
	if err != nil {
		return fmt.Errorf("waiting for the payload: %w", err)
	}
	if err := pause(ctx, p.Delay); err != nil {
		return err
	}
	switch p.Do {
	case doEcho:
		_, err = io.Copy(r.Output(mediaPayload, nil), slowly(ctx, in, p.Pause))
	case doCount:
		var n int64
		if n, err = io.Copy(io.Discard, slowly(ctx, in, p.Pause)); err == nil {
			_, err = fmt.Fprint(r.Output(mediaPayload, nil), n)
		}
	case doPeer:
		err = pass(ctx, r, p, slowly(ctx, in, p.Pause))
	case doFail:
		return fail(in)
	case doWait:
		<-ctx.Done()
		err = context.Cause(ctx)
	case doExit:
		os.Exit(exitStatus)
	case doDie:
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	default:
		err = fmt.Errorf("no plan %q", p.Do)
	}
	return err
}

func readPlan(r *cartridge.Request) (p plan, err error) {
	in, err := r.Next()
	if err != nil {
		return p, fmt.Errorf("waiting for the plan: %w", err)
	}
	data, err := io.ReadAll(in)
	if err != nil {
		return p, err
	}
	return p, json.Unmarshal(data, &p)
}

// fail takes some of the payload and refuses the rest.
func fail(in io.Reader) error {
	if _, err := io.CopyN(io.Discard, in, 1000); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return &cartridge.Error{Code: codeRefused, Attribution: frame.AttributionInput, Message: "as it was planned"}
}

// pass has another cartridge echo the payload and passes on what comes back.
func pass(ctx context.Context, r *cartridge.Request, p plan, payload io.Reader) error {
	echo := plan{Do: doEcho}
	peer, err := call.Start(ctx, r, call.Request{Cap: p.Peer},
		call.Bytes(mediaPlan, echo.encode()), call.Arg{Media: mediaPayload, Body: payload})
	if err != nil {
		return err
	}
	defer peer.Close()
	out := r.Output(mediaPayload, nil)
	for {
		e, err := peer.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if e.Kind == call.EventData {
			if _, err := out.Write(e.Data); err != nil {
				return err
			}
		}
	}
}

// slowly returns a reader that waits once, after some bytes.
func slowly(ctx context.Context, in io.Reader, wait time.Duration) io.Reader {
	if wait == 0 {
		return in
	}
	return io.MultiReader(io.LimitReader(in, 4096), readerFunc(func([]byte) (int, error) {
		if err := pause(ctx, wait); err != nil {
			return 0, err
		}
		return 0, io.EOF
	}), in)
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func pause(ctx context.Context, wait time.Duration) error {
	if wait == 0 {
		return nil
	}
	select {
	case <-time.After(wait):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
