package relaytest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"testing"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
)

// A Stream is what [BenchStream] measures.
type Stream struct {
	// Start makes the relay: who opens requests, such as a switch that has a host with a cartridge, and what ends it
	// all.
	Start func() (o call.Opener, stop func() error, err error)

	// Cap is served by a process of its own that answers with the bytes that it gets.
	Cap string

	// Echo is a program that calls [EchoBlocks] with its standard input and output.
	Echo func() *exec.Cmd
}

// BenchStream measures a stream of bytes to a cartridge and back, in chunks of 256 KiB. An operation is such a chunk there
// and back, and the sub-benchmark is stream/payload=256KiB.
//
// The metric x-copy is the ratio to the same bytes over the files that they have to pass in any case, measured by turns in
// the same run: a socket, a pipe to the process, a pipe from it, and the socket back, each with a loop between that reads
// and writes with a buffer of 64 KiB. The floor hashes where a relay does: at the beginning, on arrival in the process, when
// it sends, and at the end.
func BenchStream(b *testing.B, s Stream) { benchAll(b, s.cases()) }

// MeasureStream measures what [BenchStream] does, outside of a test.
func MeasureStream(s Stream, o *MeasureOptions) ([]Figure, error) { return measureAll(s.cases(), o) }

// blockSize is the longest chunk that peers agree on when none says less.
const blockSize = frame.DefaultMaxChunk

func (s Stream) cases() []benchCase {
	return []benchCase{{
		name: "stream/" + sizeName(blockSize), floor: "copy that hashes", metric: "x-copy", payload: blockSize,
		open: eachPath(s.throughRelay, func() (*path, error) { return copyThrough(s.Echo()) }),
	}}
}

// throughRelay is a request for each run.
func (s Stream) throughRelay() (*path, error) {
	o, stop, err := s.Start()
	if err != nil {
		return nil, err
	}
	p := &path{
		run:   func(n int) error { return echo(o, s.Cap, int64(n)*blockSize) },
		close: func() { stop() },
	}
	if err := p.run(1); err != nil { // the process starts with its first request
		p.close()
		return nil, err
	}
	return p, nil
}

func echo(o call.Opener, cap string, total int64) error {
	ctx := context.Background()
	c, err := call.Start(ctx, o, call.Request{Cap: cap}, call.Arg{Body: &zeros{total}})
	if err != nil {
		return err
	}
	defer c.Close()
	for back := int64(0); ; {
		e, err := c.Next(ctx)
		switch {
		case err == io.EOF && back == total:
			return nil
		case err == io.EOF:
			return fmt.Errorf("%d of %d bytes came back", back, total)
		case err != nil:
			return err
		}
		back += int64(len(e.Data))
	}
}

// zeros are bytes that cost nothing.
type zeros struct{ left int64 }

func (z *zeros) Read(p []byte) (int, error) {
	if z.left == 0 {
		return 0, io.EOF
	}
	n := int(min(int64(len(p)), z.left))
	z.left -= int64(n)
	return n, nil
}

// EchoBlocks is the process in the middle of the floor of [BenchStream]: it reads blocks of 256 KiB until the input ends,
// hashes each as one that came and again as one that goes, and writes it.
func EchoBlocks(in io.Reader, out io.Writer) error {
	block := make([]byte, blockSize)
	for {
		if _, err := io.ReadFull(in, block); err != nil {
			if err == io.EOF {
				return nil
			}
			return err
		}
		if came := flow.Checksum(block); came != flow.Checksum(block) {
			return errors.New("a block has changed")
		}
		if _, err := out.Write(block); err != nil {
			return err
		}
	}
}

// copyThrough is the floor: blocks through a socket, and through a process behind it.
func copyThrough(process *exec.Cmd) (*path, error) {
	near, far, err := socketPair()
	if err != nil {
		return nil, err
	}
	in, out, err := startPiped(process)
	if err != nil {
		closer(near, far)()
		return nil, err
	}
	done := make(chan error, 1)
	go func() {
		done <- bothEnds(func() error { return pump(in, far) }, func() error { return pump(far, out) })
	}()
	sent, got := make([]byte, blockSize), make([]byte, blockSize)
	sum := flow.Checksum(sent)
	return &path{
		run: func(n int) error {
			return bothEnds(func() error { return hashTo(near, sent, n) }, func() error { return hashFrom(near, got, n, sum) })
		},
		close: func() {
			near.Close()
			<-done
			far.Close()
			process.Wait()
		},
	}, nil
}

func startPiped(process *exec.Cmd) (in io.WriteCloser, out io.Reader, err error) {
	if in, err = process.StdinPipe(); err != nil {
		return nil, nil, err
	}
	if out, err = process.StdoutPipe(); err != nil {
		in.Close()
		return nil, nil, err
	}
	return in, out, process.Start() // which closes both when it fails
}

// pump copies until from ends, and then closes to.
func pump(to io.WriteCloser, from io.Reader) error {
	defer to.Close()
	buf := make([]byte, benchBuffer)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			if _, err := to.Write(buf[:n]); err != nil {
				return err
			}
		}
		if err != nil {
			return err
		}
	}
}

func hashTo(to io.Writer, block []byte, n int) error {
	first := flow.Checksum(block)
	for i := range n {
		if i > 0 && flow.Checksum(block) != first {
			return errors.New("a block has changed")
		}
		if _, err := to.Write(block); err != nil {
			return err
		}
	}
	return nil
}

func hashFrom(from io.Reader, block []byte, n int, want uint64) error {
	for range n {
		if _, err := io.ReadFull(from, block); err != nil {
			return err
		}
		if flow.Checksum(block) != want {
			return errors.New("a block came back with other bytes")
		}
	}
	return nil
}
