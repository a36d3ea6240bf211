package frame

import (
	"encoding/binary"
	"io"
	"net"
	"sync"
)

const (
	// flushSize is how many bytes wait before a writer writes them by itself.
	flushSize = 64 << 10

	// vectorSize is how long a payload has to be to go out from where it is, by writev, rather
	// than through the buffer. Measured: below, the copy is cheaper than a second vector.
	vectorSize = 32 << 10
)

// WriterOptions are the options of [NewWriter]. The zero value has the defaults.
type WriterOptions struct {
	// MaxFrame is the longest body that is written, in bytes. 0 and less is DefaultMaxFrame; above
	// HardMaxFrame counts as HardMaxFrame.
	MaxFrame int
}

// A Writer writes frames to a stream. Frames gather in a buffer until [Writer.Flush], or until
// 64 KiB wait, so that frames at hand go out in one piece. A frame is never torn apart by
// another one.
//
// A Writer is safe for concurrent use. While one goroutine writes to the stream, others add
// their frames for the next write.
type Writer struct {
	mu      sync.Mutex
	turned  sync.Cond // a write to the stream has ended
	out     io.Writer
	max     int
	buf     []byte // waits
	spare   []byte // is being written, or free
	busy    bool   // somebody is writing to the stream
	queued  uint64 // bytes taken since the beginning
	written uint64 // of them, bytes on the stream
	parts   [3][]byte
	vector  net.Buffers // parts, while they are written
	err     error
}

// NewWriter returns a writer to out. It does not close out.
func NewWriter(out io.Writer, o *WriterOptions) *Writer {
	if o == nil {
		o = &WriterOptions{}
	}
	w := &Writer{out: out, max: boundFrame(o.MaxFrame)}
	w.turned.L = &w.mu
	return w
}

// SetMaxFrame sets the longest body that is written from the next frame on; see WriterOptions.
func (w *Writer) SetMaxFrame(max int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.max = boundFrame(max)
}

// Write takes a frame, and is done with f when it returns. A payload of 32 KiB or more goes to
// the stream at once, from where it is; other frames wait in the buffer. Write itself waits
// while the stream takes nothing and much is in the buffer.
//
// It fails with [ErrEncode], or [ErrFrameTooLarge] for a body above the limit, and then has
// written nothing of the frame; the writer stays good. An error of the stream is of kind
// [ErrIO] and for good.
func (w *Writer) Write(f *Frame) error {
	if err := f.Sendable(); err != nil {
		return err
	}
	if err := f.encodable(); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(f.Payload) >= vectorSize {
		return w.direct(f)
	}
	if err := w.room(); err != nil {
		return err
	}
	begin := len(w.buf)
	w.buf = f.appendStart(append(w.buf, 0, 0, 0, 0))
	w.buf = append(w.buf, f.Payload...)
	w.buf = f.appendRest(w.buf)
	if err := w.prefix(w.buf[begin:], 0, f.Type); err != nil {
		w.buf = w.buf[:begin]
		return err
	}
	w.queued += uint64(len(w.buf) - begin)
	return w.relieve()
}

// WriteWire takes frames that are encoded already, each with its prefix, as [Reader.Wire]
// returns them, and does not look at them. Otherwise it is as Write.
func (w *Writer) WriteWire(wire []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(wire) >= vectorSize {
		if err := w.take(); err != nil {
			return err
		}
		w.queued += uint64(len(wire))
		return w.gather(len(w.spare), wire)
	}
	if err := w.room(); err != nil {
		return err
	}
	w.buf = append(w.buf, wire...)
	w.queued += uint64(len(wire))
	return w.relieve()
}

// Flush returns when all that was taken before is on the stream.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for target := w.queued; w.err == nil && w.written < target; {
		if w.busy {
			w.turned.Wait()
		} else {
			w.turn()
		}
	}
	return w.err
}

// prefix puts a frame's length in front of it; elsewhere is how much of it is not there.
func (w *Writer) prefix(wire []byte, elsewhere int, t Type) error {
	size := len(wire) - PrefixSize + elsewhere
	if size > w.max {
		return Errorf(ErrFrameTooLarge, "a %v frame of %d bytes, at most %d are written", t, size, w.max)
	}
	binary.BigEndian.PutUint32(wire, uint32(size))
	return nil
}

// room waits until the buffer has room for another frame.
func (w *Writer) room() error {
	for w.err == nil && w.busy && len(w.buf) >= flushSize {
		w.turned.Wait()
	}
	return w.err
}

// relieve writes what waits when it is much, unless somebody is writing: then the next to call
// does it.
func (w *Writer) relieve() error {
	if w.busy || len(w.buf) < flushSize {
		return nil
	}
	w.turn()
	return w.err
}

// take waits for the stream to be free and makes what waits the caller's, in w.spare.
func (w *Writer) take() error {
	for w.err == nil && w.busy {
		w.turned.Wait()
	}
	if w.err != nil {
		return w.err
	}
	w.busy = true
	w.buf, w.spare = w.spare[:0], w.buf
	return nil
}

// turn writes what waits.
func (w *Writer) turn() {
	if w.take() != nil {
		return
	}
	w.mu.Unlock()
	n, err := w.out.Write(w.spare)
	w.mu.Lock()
	w.turnEnded(len(w.spare), n, err)
}

// direct writes what waits and a frame whose payload stays where it is.
func (w *Writer) direct(f *Frame) error {
	if err := w.take(); err != nil {
		return err
	}
	begin := len(w.spare)
	w.spare = f.appendStart(append(w.spare, 0, 0, 0, 0))
	split := len(w.spare)
	w.spare = f.appendRest(w.spare)
	if err := w.prefix(w.spare[begin:], len(f.Payload), f.Type); err != nil {
		w.buf, w.spare = w.spare[:begin], w.buf
		w.turnEnded(0, 0, nil)
		return err
	}
	w.queued += uint64(len(w.spare) - begin + len(f.Payload))
	return w.gather(split, f.Payload)
}

// gather writes what was taken, with middle at an offset in it.
func (w *Writer) gather(split int, middle []byte) error {
	w.vector = w.parts[:0]
	for _, part := range [...][]byte{w.spare[:split], middle, w.spare[split:]} {
		if len(part) > 0 {
			w.vector = append(w.vector, part)
		}
	}
	w.mu.Unlock()
	n, err := w.vector.WriteTo(w.out)
	w.mu.Lock()
	w.parts = [3][]byte{}
	w.turnEnded(len(w.spare)+len(middle), int(n), err)
	return w.err
}

// turnEnded gives the stream free after a write of which n of some bytes went out.
func (w *Writer) turnEnded(due, n int, err error) {
	w.busy = false
	w.written += uint64(due)
	if poisoned {
		poison(w.spare)
	}
	if err == nil && n < due {
		err = io.ErrShortWrite
	}
	if err != nil {
		w.err = ioError("write", err)
	}
	w.turned.Broadcast()
}
