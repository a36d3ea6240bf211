package frame_test

import (
	"io"
	"testing"

	"github.com/cosim-go/cosim/relay/frame"
)

// allocates fails the test when a call allocates, after it was called once.
func allocates(t *testing.T, what string, call func()) {
	t.Helper()
	if n := testing.AllocsPerRun(100, call); n != 0 {
		t.Errorf("%s allocates %v times, want 0", what, n)
	}
}

func TestEncodeAllocatesNothing(t *testing.T) {
	for _, s := range samples(t) {
		t.Run(s.name, func(t *testing.T) {
			buf := make([]byte, 0, 300<<10)
			allocates(t, "Append", func() {
				if _, err := s.frame.Append(buf); err != nil {
					t.Fatal(err)
				}
			})
			w := frame.NewWriter(io.Discard, nil)
			allocates(t, "Write and Flush", func() {
				if w.Write(&s.frame) != nil || w.Flush() != nil {
					t.Fatal("cannot write")
				}
			})
			allocates(t, "Sendable", func() { s.frame.Sendable() })
		})
	}
}

func TestEncodeOverASocketAllocatesNothing(t *testing.T) {
	near, far := socketPair(t)
	go io.Copy(io.Discard, far)
	w := frame.NewWriter(near, nil)
	for _, s := range samples(t) {
		allocates(t, s.name+": Write and Flush", func() {
			if w.Write(&s.frame) != nil || w.Flush() != nil {
				t.Fatal("cannot write")
			}
		})
	}
}

func TestDecodeAndReadEverythingAllocatesNothing(t *testing.T) {
	for _, s := range samples(t) {
		t.Run(s.name, func(t *testing.T) {
			body := encoded(t, &s.frame)
			var f frame.Frame
			allocates(t, "Decode", func() {
				if err := frame.Decode(body, &f); err != nil {
					t.Fatal(err)
				}
			})
			allocates(t, "reading fields", func() { readFields(&f) })
			allocates(t, "reading meta", func() { readMeta(&f) })
			allocates(t, "Check", func() {
				if _, err := frame.Check(body); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

var (
	readBytes  []byte
	readNumber uint64
	readBool   bool
	readFloat  float64
)

// readFields reads every field of a frame.
func readFields(f *frame.Frame) {
	for _, b := range [...][]byte{f.ContentType, f.Payload, f.Cap, f.StreamID, f.MediaURN, f.Meta.Raw()} {
		readBytes = b
	}
	for _, o := range [...]frame.Optional[uint64]{f.Len, f.Offset, f.ChunkIndex, f.ChunkCount, f.Checksum, f.Credit} {
		readNumber, readBool = o.Get()
	}
	for _, o := range [...]frame.Optional[bool]{f.EOF, f.IsSequence, f.ForceKill, f.Unbounded} {
		readBool = o.Or(false)
	}
	head := f.Head()
	readNumber, readBool = head.ID.Number()
	_, readBool = head.RoutingID.UUID()
	readBool = head.Type.Flow() || head.Type.Terminal() || head.Type.Valid()
}

// readMeta reads every key of meta that the frame's type has.
func readMeta(f *frame.Frame) {
	switch f.Type {
	case frame.TypeHello:
		h, err := f.Hello()
		readBytes, readBool = h.Manifest, err == nil
	case frame.TypeReq:
		readBytes = f.ReqInfo().TargetCartridge
	case frame.TypeChunk:
		item := f.FeedItem()
		readBool = item.Gap.IsSet()
	case frame.TypeEnd:
		e := f.EndInfo()
		readFloat, readBool = e.FinalProgress()
		readBytes = e.Message
	case frame.TypeLog:
		l, err := f.LogInfo()
		readBytes, readBool = l.Message, err == nil
	case frame.TypeErr:
		e, err := f.ErrInfo()
		readBytes, readBool = e.Code, err == nil
		readBool = e.Attribution.String() == "input"
	case frame.TypeHeartbeat:
		h, err := f.Heartbeat()
		readBytes, readBool = h.Pools, err == nil
	case frame.TypeRelayNotify:
		n, err := f.Notify()
		readBytes, readBool = n.Manifest, err == nil
	case frame.TypeCancel:
		readBytes = f.CancelReason().Message
	case frame.TypeCredit:
		readBool = f.CreditDirection() == frame.RequestDirection
	}
	for name, value := range f.Meta.All() {
		readBytes = name
		readBytes, readBool = value.Text()
		readBytes, readBool = value.Bytes()
		readFloat, readBool = value.Number()
		readNumber, readBool = value.Uint()
	}
	readBytes, _ = f.Meta.Text("title")
}

func TestReaderAllocatesNothing(t *testing.T) {
	stream := streamOf(t, samples(t))
	for name, read := range map[string]func(*frame.Reader) error{
		"Next":     func(r *frame.Reader) error { _, err := r.Next(); return err },
		"NextHead": func(r *frame.Reader) error { _, err := r.NextHead(); return err },
	} {
		r := frame.NewReader(&repeated{stream: stream}, &frame.ReaderOptions{Idle: func() error { return nil }})
		one := func() {
			if err := read(r); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 * len(samples(t)) {
			one() // until the buffer has grown to the longest frame
		}
		if n := testing.AllocsPerRun(2000, one); n != 0 {
			t.Errorf("%s allocates %v times a frame, want 0", name, n)
		}
	}
}

func TestHotFramesAreMadeWithoutAllocation(t *testing.T) {
	stream, payload := []byte("out"), make([]byte, 1<<10)
	message := []byte("half")
	ok := frame.EndInfo{ExitCode: frame.Some[int64](0)}
	var b frame.MetaBuilder
	buf := make([]byte, 0, 4<<10)
	for name, make := range map[string]func() (frame.Frame, error){
		"credit": func() (frame.Frame, error) {
			return frame.NewCredit(sampleID, stream, 16, frame.ResponseDirection), nil
		},
		"chunk":       func() (frame.Frame, error) { return frame.NewChunk(sampleID, stream, 1, payload, 2), nil },
		"body end":    func() (frame.Frame, error) { return frame.NewBodyEnd(sampleID), nil },
		"end":         func() (frame.Frame, error) { return frame.NewEnd(sampleID, ok) },
		"stream_end":  func() (frame.Frame, error) { return frame.NewStreamEnd(sampleID, stream, frame.Some[uint64](3)), nil },
		"relay_state": func() (frame.Frame, error) { return frame.NewRelayState(payload), nil },
		"log of progress": func() (f frame.Frame, err error) {
			b.Reset()
			frame.LogInfo{Message: message, Progress: frame.Some(0.5)}.Put(&b)
			f = frame.Frame{Type: frame.TypeLog, ID: sampleID}
			f.Meta, err = b.Meta()
			return f, err
		},
		"end with message": func() (f frame.Frame, err error) {
			b.Reset()
			frame.EndInfo{ExitCode: frame.Some[int64](1), Progress: frame.Some(0.5), Message: message}.Put(&b)
			f = frame.NewBodyEnd(sampleID)
			f.Meta, err = b.Meta()
			return f, err
		},
		"heartbeat answer": func() (f frame.Frame, err error) {
			b.Reset()
			frame.Heartbeat{Pools: payload, RSSMB: frame.Some[uint64](1), Drops: frame.Some[uint64](2)}.Put(&b)
			f = frame.Frame{Type: frame.TypeHeartbeat, ID: sampleID}
			f.Meta, err = b.Meta()
			return f, err
		},
	} {
		allocates(t, name, func() {
			f, err := make()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.Append(buf); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestIDsAllocateNothing(t *testing.T) {
	buf := make([]byte, 0, 64)
	table := map[frame.ID]int{sampleID: 1}
	allocates(t, "an id", func() {
		for _, id := range [...]frame.ID{sampleID, sampleXID, {}} {
			readBytes = id.AppendText(buf)
			readBytes = id.AppendBytes(buf)
			table[id]++
			delete(table, id)
		}
	})
}

// TestOddBodiesAllocateInProportion decodes and encodes what is legal and no implementation
// writes: small pieces and small entries, which cost the most for their size.
func TestOddBodiesAllocateInProportion(t *testing.T) {
	const size = 256 << 10
	for name, body := range map[string][]byte{
		"a payload in pieces of a byte": repeatedBody(t, "06 5f", "41 00", size, "ff"),
		"a payload in pieces of 1 kB":   repeatedBody(t, "06 5f", "59 0400"+string(bytesHex(1<<10)), size, "ff"),
		"a text in pieces of a byte":    repeatedBody(t, "0a 7f", "61 61", size, "ff"),
		"a meta of empty names":         repeatedBody(t, "05 bf", "60 00", size, "ff"),
		"a meta of names in pieces":     repeatedBody(t, "05 bf", "7f 61 61 ff 00", size, "ff"),
		"a meta of nested containers":   repeatedBody(t, "05 bf 61 61 9f", "9f bf ff ff", size, "ff ff"),
	} {
		limit := uint64(4*len(body) + 64<<10)
		var f frame.Frame
		if got := allocated(func() { frame.Decode(body, &f) }); got > limit {
			t.Errorf("%s: Decode of %d bytes allocates %d, want at most %d", name, len(body), got, limit)
		}
		if n := testing.AllocsPerRun(3, func() { frame.Check(body) }); n != 0 {
			t.Errorf("%s: Check allocates %v times, want 0", name, n)
		}
		buf := make([]byte, 0, 2*size)
		if got := allocated(func() { f.Append(buf) }); got > limit {
			t.Errorf("%s: Append of %d bytes allocates %d, want at most %d", name, len(body), got, limit)
		}
	}
}

// repeatedBody returns a heartbeat with an entry that repeats a part up to a size.
func repeatedBody(tb testing.TB, begin, part string, size int, end string) []byte {
	tb.Helper()
	b := heartbeat(tb, begin)
	one := unhex(tb, part)
	for len(b) < size {
		b = append(b, one...)
	}
	b[0] = 0xa4
	return append(b, unhex(tb, end)...)
}

// bytesHex returns some zero bytes in hexadecimal.
func bytesHex(n int) []byte {
	b := make([]byte, 2*n)
	for i := range b {
		b[i] = '0'
	}
	return b
}
