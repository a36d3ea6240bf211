package endtoend

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
)

const (
	strays     = 20_000 // frames of no request that a flood has
	stderrSize = 8 << 20
	lastLine   = "this is the last line"
)

// overrun is one CHUNK more than there is credit for.
var overrun = int(frame.DefaultLimits().InitialCredit) + 1

// answer does what a request asks for, when its body has come.
func (c *rawCartridge) answer(k flow.Key, r *rawRequest, behaviour string) {
	switch r.do {
	case "": // the check of identity
		c.echo(k, r, behaviour)
	case "tell":
		c.send(append(c.stream(k, "out", []byte(strings.Join(c.heard, "\n"))), c.end(k))...)
	case "hold":
		c.reqs[k] = r
	case "hang":
		hang()
	case "flood stderr":
		floodStderr()
		c.send(append(c.stream(k, "out", []byte("done")), c.end(k))...)
	case "flood stderr and exit":
		floodStderr()
		os.Exit(exitStatus)
	case "exceed the credit":
		c.reqs[k] = r // until it is cancelled
		frames := c.stream(k, "out", pieces(overrun)...)
		c.send(frames[:len(frames)-1]...)
	case "exceed the credit of a peer call":
		c.callTooMuch(k)
	case "policy":
		f := frame.NewPolicy([]byte("mine"))
		c.send(&f)
	case "state":
		f := frame.NewRelayState([]byte("mine"))
		c.send(&f)
	case "half a frame, and exit":
		os.Stdout.Write([]byte{0, 0, 1, 0, 0xa4, 0x00})
		os.Exit(exitStatus)
	case "half a frame":
		os.Stdout.Write([]byte{0, 0, 1, 0, 0xa4, 0x00})
		hang()
	case "garbage":
		io.Copy(os.Stdout, endless("no frame at all\n"))
		hang()
	case "strays":
		unknown := flow.Key{RID: frame.NewUUID(), XID: frame.Number(1 << 40)}
		for range strays - 1 {
			c.send(c.log(unknown, "who is this for?"))
		}
		c.send(c.end(unknown))
		c.send(append(c.stream(k, "out", []byte("done")), c.end(k))...)
	case "logs":
		c.reqs[k] = r
		go c.floodLogs(k)
	default:
		fmt.Fprintf(os.Stderr, "nothing is known of %q\n", r.do)
		os.Exit(2)
	}
}

// callTooMuch makes a peer call of a handler that takes nothing, and sends it more than it has credit for.
func (c *rawCartridge) callTooMuch(k flow.Key) {
	id := frame.NewUUID()
	c.calls[id] = k
	req := frame.NewReq(id, []byte(capOf("c0")))
	var b frame.MetaBuilder
	frame.ReqInfo{ParentRID: k.RID}.Put(&b)
	req.Meta, _ = b.Meta()
	c.send(&req)
	peer := flow.Key{RID: id}
	c.send(c.stream(peer, "arg0", (&plan{Do: doWait}).encode())...)
	frames := c.stream(peer, "arg1", pieces(overrun)...)
	c.send(frames[:len(frames)-1]...)
}

func (c *rawCartridge) floodLogs(k flow.Key) {
	for message := strings.Repeat("again and again ", 100); !c.quiet.Load(); {
		c.send(c.log(k, message))
	}
}

func pieces(n int) [][]byte {
	all := make([][]byte, n)
	for i := range all {
		all[i] = []byte("x")
	}
	return all
}

func floodStderr() {
	io.CopyN(os.Stderr, endless(strings.Repeat("noise ", 20)+"\n"), stderrSize)
	fmt.Fprintf(os.Stderr, "\n%s\n", lastLine)
}

// endless returns a reader of a text over and over.
func endless(text string) io.Reader {
	block := bytes.Repeat([]byte(text), 1<<10)
	return readerFunc(func(p []byte) (int, error) { return copy(p, block), nil })
}

// hang waits to be killed.
func hang() { time.Sleep(time.Hour) }
