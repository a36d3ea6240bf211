package relaytest

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"time"

	"github.com/cosim-go/cosim/relay/frame"
)

// A path is a way for frames, or for bytes in their place, over connections that stay open
// from one run to the next.
type path struct {
	run   func(n int) error // sends n frames and returns when the last one is there
	close func()

	trips []time.Duration // of a path there and back: how long each trip of the last run took
}

// benchBuffer is the size of every buffer beside those of package frame, which are as large.
const benchBuffer = 64 << 10

// chunk returns a CHUNK as it is on the way through a switch.
func chunk(size int) *frame.Frame {
	id, err := frame.ParseID("0a1b2c3d-4e5f-4081-92a3-b4c5d6e7f809")
	if err != nil {
		panic("relaytest: " + err.Error())
	}
	return &frame.Frame{
		Type: frame.TypeChunk, ID: id, RoutingID: frame.Number(5), StreamID: []byte("4f6f0b1e-7c55-4c1e-9d0a-0d1a5b2c3d4e"),
		Payload: make([]byte, size), ChunkIndex: frame.Some[uint64](7), Checksum: frame.Some[uint64](1 << 63),
	}
}

// wireSize returns how many bytes a frame has with its prefix.
func wireSize(f *frame.Frame) int {
	body, err := f.Append(nil)
	if err != nil {
		panic("relaytest: " + err.Error())
	}
	return prefixSize + len(body)
}

// bothEnds runs two functions at the same time and returns when both have ended.
func bothEnds(send, receive func() error) error {
	sent := make(chan error, 1)
	go func() { sent <- send() }()
	err := receive()
	return errors.Join(err, <-sent)
}

// hop is frames from one end of a connection to the other, encoded here and decoded there.
func hop(client, server io.ReadWriteCloser, size int) *path {
	w, r := frame.NewWriter(client, nil), frame.NewReader(server, nil)
	f := chunk(size)
	return &path{run: func(n int) error {
		return bothEnds(func() error { return sendChunks(w, f, n) }, func() error {
			for range n {
				if _, err := r.Next(); err != nil {
					return err
				}
			}
			return nil
		})
	}, close: closer(client, server)}
}

// sendChunks writes frames of one flow, counted on from the last one.
func sendChunks(w *frame.Writer, f *frame.Frame, n int) error {
	for range n {
		if err := w.Write(f); err != nil {
			return err
		}
		f.Seq++
	}
	return w.Flush()
}

// rawHop is the same bytes without a frame in them, through bufio.
func rawHop(client, server io.ReadWriteCloser, size int) *path {
	wire := make([]byte, wireSize(chunk(size)))
	w, buf := bufio.NewWriterSize(client, benchBuffer), make([]byte, benchBuffer)
	return &path{run: func(n int) error {
		return bothEnds(func() error {
			for range n {
				if _, err := w.Write(wire); err != nil {
					return err
				}
			}
			return w.Flush()
		}, func() error { return swallow(server, buf, int64(n)*int64(len(wire))) })
	}, close: closer(client, server)}
}

// swallow reads that many bytes.
func swallow(in io.Reader, buf []byte, total int64) error {
	for total > 0 {
		n, err := in.Read(buf[:min(int64(len(buf)), total)])
		if total -= int64(n); err != nil && total > 0 {
			return err
		}
	}
	return nil
}

// through is frames from one end to another with something between that passes them on: they
// are encoded at the beginning, and at the end bytes are counted, whatever is between.
func through(client, server io.ReadWriteCloser, size int, close func()) *path {
	w, buf := frame.NewWriter(client, nil), make([]byte, benchBuffer)
	f := chunk(size)
	return &path{run: func(n int) error {
		total := int64(n) * int64(wireSize(f)-headSize(f.Seq))
		for i := range uint64(n) {
			total += int64(headSize(f.Seq + i))
		}
		return bothEnds(func() error { return sendChunks(w, f, n) }, func() error { return swallow(server, buf, total) })
	}, close: close}
}

// headSize returns how many bytes a number takes.
func headSize(n uint64) int {
	var head [9]byte
	return len(appendCBORHead(head[:0], cborUint, n))
}

// roundTrip is a frame there and one back, and then the next.
func roundTrip(client, server io.ReadWriteCloser, size int, close func()) *path {
	p := &path{close: close}
	near, far := newTalker(client, size), newTalker(server, size)
	p.run = func(n int) error {
		p.begin(n)
		return bothEnds(func() error {
			for range n {
				if err := errors.Join(far.listen(), far.speak()); err != nil {
					return err
				}
			}
			return nil
		}, func() error {
			for i := range n {
				begin := time.Now()
				if err := errors.Join(near.speak(), near.listen()); err != nil {
					return err
				}
				p.trips[i] = time.Since(begin)
			}
			return nil
		})
	}
	return p
}

// begin makes room for as many trips, before anything is measured if there was room already.
func (p *path) begin(n int) {
	if cap(p.trips) < n {
		p.trips = make([]time.Duration, n)
	}
	p.trips = p.trips[:n]
}

// A talker is one end of a round trip.
type talker struct {
	w *frame.Writer
	r *frame.Reader
	f *frame.Frame
}

func newTalker(c io.ReadWriteCloser, size int) *talker {
	return &talker{frame.NewWriter(c, nil), frame.NewReader(c, nil), chunk(size)}
}

func (t *talker) speak() error { return sendChunks(t.w, t.f, 1) }

func (t *talker) listen() error {
	_, err := t.r.Next()
	return err
}

// rawRoundTrip is as many bytes there and back.
func rawRoundTrip(client, server io.ReadWriteCloser, size int) *path {
	p := &path{close: closer(client, server)}
	near, far := make([]byte, wireSize(chunk(size))), make([]byte, wireSize(chunk(size)))
	p.run = func(n int) error {
		p.begin(n)
		return bothEnds(func() error {
			for range n {
				if _, err := io.ReadFull(server, far); err != nil {
					return err
				}
				if _, err := server.Write(far); err != nil {
					return err
				}
			}
			return nil
		}, func() error {
			for i := range n {
				begin := time.Now()
				if _, err := client.Write(near); err != nil {
					return err
				}
				if _, err := io.ReadFull(client, near); err != nil {
					return err
				}
				p.trips[i] = time.Since(begin)
			}
			return nil
		})
	}
	return p
}

// copyBoth is the floor of a bridge: bytes are read and written in both directions until both
// have ended.
func copyBoth(a, b io.ReadWriteCloser) error {
	pass := func(to, from io.ReadWriteCloser) error {
		buf := make([]byte, benchBuffer)
		for {
			n, err := from.Read(buf)
			if n > 0 {
				if _, err := to.Write(buf[:n]); err != nil {
					from.Close()
					return err
				}
			}
			if err != nil {
				to.Close()
				return err
			}
		}
	}
	err := bothEnds(func() error { return pass(a, b) }, func() error { return pass(b, a) })
	a.Close()
	b.Close()
	return err
}

func closer(conns ...io.ReadWriteCloser) func() {
	return func() {
		for _, c := range conns {
			c.Close()
		}
	}
}

// encode is frames that are encoded into a buffer that is used again.
func encode(size int) *path {
	f := chunk(size)
	buf := make([]byte, 0, wireSize(f))
	return &path{run: func(n int) (err error) {
		for range n {
			if buf, err = f.Append(buf[:0]); err != nil {
				return err
			}
		}
		return nil
	}, close: func() {}}
}

// decode is a body that is decoded over and over.
func decode(size int) *path {
	body, _ := chunk(size).Append(nil)
	var f frame.Frame
	return &path{run: func(n int) error {
		for range n {
			if err := frame.Decode(body, &f); err != nil {
				return err
			}
		}
		return nil
	}, close: func() {}}
}

// check is a body of which a relay looks at the head.
func check(size int) *path {
	body, _ := chunk(size).Append(nil)
	return &path{run: func(n int) error {
		for range n {
			if _, err := frame.Check(body); err != nil {
				return err
			}
		}
		return nil
	}, close: func() {}}
}

// copyBytes copies a body as often.
func copyBytes(size int) *path {
	body, _ := chunk(size).Append(nil)
	to := make([]byte, len(body))
	return &path{run: func(n int) error {
		for i := range n {
			binary.LittleEndian.PutUint16(body, uint16(i)) // another one each time
			copy(to, body)
		}
		return nil
	}, close: func() {}}
}
