package flow

import (
	"errors"
	"strings"
	"testing"

	"github.com/cosim-go/cosim/relay/frame"
)

func chunk(index uint64, payload string) *frame.Frame {
	f := frame.NewChunk(frame.Number(7), []byte("arg0"), index, []byte(payload), Checksum([]byte(payload)))
	return &f
}

func streamEnd(chunks frame.Optional[uint64]) *frame.Frame {
	f := frame.NewStreamEnd(frame.Number(7), []byte("arg0"), chunks)
	return &f
}

// refuses fails unless an error is of kind protocol and says something.
func refuses(t *testing.T, what string, err error, says string) {
	t.Helper()
	if !errors.Is(err, frame.ErrProtocol) || !strings.Contains(err.Error(), says) {
		t.Errorf("%s = %v, want a protocol error that says %q", what, err, says)
	}
}

func TestAVerifierRefusesWhatIsNotWhole(t *testing.T) {
	none := frame.Optional[uint64]{}
	damaged, empty, log := chunk(1, "b"), chunk(1, ""), chunk(1, "b")
	damaged.Payload[0] ^= 1
	empty.Payload = nil
	log.Type = frame.TypeLog
	for _, test := range []struct {
		name string
		f    *frame.Frame
		says string
	}{
		{"a chunk twice", chunk(0, "a"), "chunk 0 where chunk 1 is due"},
		{"a chunk missing", chunk(2, "c"), "chunk 2 where chunk 1 is due"},
		{"a byte changed", damaged, "chunk 1: its checksum is 0x"},
		{"no payload", empty, "chunk 1 has no payload"},
		{"another type", log, "a log frame where a chunk is due"},
		{"an end too early", streamEnd(frame.Some(uint64(2))), "1 chunks came, 2 were sent"},
		{"an end too late", streamEnd(frame.Some(uint64(0))), "1 chunks came, 0 were sent"},
		{"an end without a number", streamEnd(none), "without a number of chunks"},
		{"an end of another type", chunk(1, "b"), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			v := NewVerifier(streamStart(frame.Some(false)))
			if err := v.Chunk(chunk(0, "a")); err != nil {
				t.Fatal(err)
			}
			switch {
			case test.f.Type == frame.TypeStreamEnd:
				refuses(t, "End", v.End(test.f), test.says)
			case test.says == "":
				refuses(t, "End", v.End(test.f), "a chunk frame where the stream's end is due")
			default:
				refuses(t, "Chunk", v.Chunk(test.f), test.says)
			}
		})
	}
}

func TestNothingComesAfterTheEndOfAStream(t *testing.T) {
	ended := func() *Verifier {
		v := NewVerifier(streamStart(frame.Some(false)))
		if err := errors.Join(v.Chunk(chunk(0, "")), v.End(streamEnd(frame.Some(uint64(1))))); err != nil {
			t.Fatal(err)
		}
		return v
	}
	refuses(t, "Chunk", ended().Chunk(chunk(1, "b")), "a chunk after the stream's end")
	refuses(t, "End", ended().End(streamEnd(frame.Some(uint64(1)))), "it ends twice")
}

// Whoever goes on after an error must not get a stream that looks whole.
func TestAStreamThatFailedStaysSo(t *testing.T) {
	whole := streamEnd(frame.Some(uint64(1)))
	damaged := chunk(0, "\x01")
	damaged.Checksum = frame.Some(uint64(1))

	v := NewVerifier(streamStart(frame.Some(false)))
	first := v.Chunk(damaged)
	if again, end := v.Chunk(chunk(0, "\x01")), v.End(whole); first == nil || again != first || end != first {
		t.Errorf("Chunk = %v, then %v, then End = %v, want the same error", first, again, end)
	}
	c := mustCollect(t, nil)
	first = c.Chunk(chunk(0, "\x01")) // no string
	if data, end := c.End(whole); first == nil || end != first || data != nil {
		t.Errorf("Chunk = %v, then End = %q, %v, want the same error", first, data, end)
	}
	s := mustItems(t, nil)
	_, _, first = s.Chunk(chunk(0, "\x1c"))
	if _, is, again := s.Chunk(chunk(1, "\x01")); first == nil || again != first || is {
		t.Errorf("Chunk = %v, then %t, %v, want the same error", first, is, again)
	}
}

func TestAnUnboundedStreamMayCountItsChunks(t *testing.T) {
	start := streamStart(frame.Some(true))
	start.Unbounded = frame.Some(true)
	for _, count := range []frame.Optional[uint64]{{}, frame.Some(uint64(1)), frame.Some(uint64(2))} {
		v := NewVerifier(start)
		if err := v.Chunk(chunk(0, "a")); err != nil {
			t.Fatal(err)
		}
		if err := v.End(streamEnd(count)); (err == nil) != (count.Or(1) == 1) {
			t.Errorf("End with %v chunks = %v", count, err)
		}
	}
}
