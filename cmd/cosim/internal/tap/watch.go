package tap

import (
	"encoding/binary"

	"github.com/cosim-go/cosim/relay/frame"
)

// A watcher finds the frames in one direction of a connection.
type watcher struct {
	connection int
	direction  Direction
	report     func(Event) error

	offset  int64  // of what comes next
	partial []byte // the beginning of a frame
	blind   bool   // something was no frame
	frame   frame.Frame
}

const prefixSize = 4

// see takes the next bytes and reports the frames that they complete.
func (w *watcher) see(b []byte) error {
	if w.blind {
		w.offset += int64(len(b))
		return nil
	}
	if len(w.partial) > 0 {
		w.partial = append(w.partial, b...)
		b = w.partial
	}
	rest, err := w.frames(b)
	w.partial = append(w.partial[:0], rest...)
	return err
}

// frames reports the frames at the beginning of b and returns what is left.
func (w *watcher) frames(b []byte) (rest []byte, err error) {
	for len(b) >= prefixSize {
		size := int64(binary.BigEndian.Uint32(b))
		if size > frame.HardMaxFrame {
			return nil, w.giveUp(len(b), frame.Errorf(frame.ErrFrameTooLarge, "a length of %d bytes", size))
		}
		whole := prefixSize + int(size)
		if len(b) < whole {
			break
		}
		if err := frame.Decode(b[prefixSize:whole], &w.frame); err != nil {
			return nil, w.giveUp(len(b), err)
		}
		if err := w.tell(Event{Kind: Frame, Bytes: whole, Frame: &w.frame}); err != nil {
			return nil, err
		}
		w.offset += int64(whole)
		b = b[whole:]
	}
	return b, nil
}

// giveUp looks at nothing any more.
func (w *watcher) giveUp(left int, why error) error {
	err := w.tell(Event{Kind: NoFrames, Err: why})
	w.offset += int64(left)
	w.blind = true
	return err
}

// end reports the end of the direction; why is nil for an orderly one.
func (w *watcher) end(why error) error {
	switch {
	case why != nil:
		w.offset += int64(len(w.partial))
		return w.tell(Event{Kind: Broken, Err: why})
	case len(w.partial) > 0:
		return w.tell(Event{Kind: Cut, Bytes: len(w.partial)})
	}
	return w.tell(Event{Kind: Ended})
}

func (w *watcher) tell(e Event) error {
	e.Connection, e.Direction, e.Offset = w.connection, w.direction, w.offset
	return w.report(e)
}
