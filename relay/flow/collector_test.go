package flow

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/cosim-go/cosim/relay/frame"
)

func mustCollect(t testing.TB, o *CollectorOptions) *Collector {
	t.Helper()
	c, err := NewCollector(streamStart(frame.Optional[bool]{}), o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestWhatWasCutIsPutTogether(t *testing.T) {
	r := random(t)
	for range 200 {
		raw := r.IntN(2) == 0
		data := randomCode(r, r.IntN(3000))
		c := mustCollect(t, &CollectorOptions{Raw: raw})
		chunker := NewChunker(streamStart(frame.Some(false)), 1+r.IntN(500))
		frames := chunker.Scalar(data)
		if raw {
			frames = chunker.Payload(data, nil)
		}
		for _, f := range collectFrames(t, frames) {
			if err := c.Chunk(f); err != nil {
				t.Fatal(err)
			}
		}
		end := chunker.End()
		if got, err := c.End(&end); err != nil || !bytes.Equal(got, data) {
			t.Fatalf("End = %d bytes, %v, want the %d that were cut", len(got), err, len(data))
		}
	}
}

func TestACollectorJoinsStrings(t *testing.T) {
	c := mustCollect(t, nil)
	const want = "ab" + "cd" + "ef" + "ghi" + "ü" + "jkl"
	for i, payload := range []string{
		"\x42ab", "\x40", "\x58\x02cd", "\x5b\x00\x00\x00\x00\x00\x00\x00\x02ef", "\x63ghi", "\x62ü",
		"\x5f\x41j\x40\x42kl\xff", "\x7f\xff",
	} {
		if err := c.Chunk(chunk(uint64(i), payload)); err != nil {
			t.Fatalf("Chunk(%x) = %v", payload, err)
		}
	}
	if got, err := c.End(streamEnd(frame.Some(uint64(8)))); string(got) != want || err != nil {
		t.Errorf("End = %q, %v, want %q", got, err, want)
	}
}

func TestACollectorRefusesOtherPayloads(t *testing.T) {
	for payload, want := range map[string]error{
		"":                                     errNoString,
		"\x00":                                 errNoString,
		"\x81\x41a":                            errNoString,
		"\xc1\x41a":                            errNoString,
		"\xf6":                                 errNoString,
		"\x42a":                                errCutString,
		"\x58":                                 errCutString,
		"\x5b\xff\xff\xff\xff\xff\xff\xff\xff": errCutString,
		"\x5c":                                 errPiece,
		"\x41ab":                               errMoreBehind,
		"\x61\xff":                             errNotUTF8,
		"\x5f\x41a":                            errCutString,
		"\x5f\x61a\xff":                        errPiece,
		"\x5f\x5f\xff\xff":                     errPiece,
		"\x5f\x5c\xff":                         errPiece,
		"\x5f\x41a\xff\x00":                    errMoreBehind,
		"\x7f\x61\xc3\x61\xbc\xff":             errNotUTF8,
	} {
		err := mustCollect(t, nil).Chunk(chunk(0, payload))
		if !errors.Is(err, want) || !errors.Is(err, frame.ErrProtocol) {
			t.Errorf("Chunk(%x) = %v, want %v", payload, err, want)
		}
	}
}

func TestACollectorVerifies(t *testing.T) {
	for _, raw := range []bool{false, true} {
		c := mustCollect(t, &CollectorOptions{Raw: raw})
		_, err := c.End(streamEnd(frame.Some(uint64(1))))
		refuses(t, "End", err, "0 chunks came, 1 were sent")
		c = mustCollect(t, &CollectorOptions{Raw: raw})
		refuses(t, "Chunk", c.Chunk(chunk(1, "\x40")), "chunk 1 where chunk 0 is due")
	}
}

func TestARawPayloadIsWhatItSays(t *testing.T) {
	offset := func(f *frame.Frame, n uint64) *frame.Frame {
		f.Offset = frame.Some(n)
		return f
	}
	first := func(length uint64, last bool) *frame.Frame {
		f := offset(chunk(0, "abc"), 0)
		f.Len, f.EOF = frame.Some(length), frame.Some(last)
		return f
	}
	for _, test := range []struct {
		name   string
		chunks []*frame.Frame
		says   string
	}{
		{"says nothing", []*frame.Frame{chunk(0, "a"), chunk(1, "b")}, ""},
		{"says all", []*frame.Frame{first(5, false), offset(chunk(1, "de"), 3)}, ""},
		{"is shorter", []*frame.Frame{first(5, false), offset(chunk(1, "d"), 3)}, "4 bytes came, 5 were announced"},
		{"is longer", []*frame.Frame{first(3, false), offset(chunk(1, "d"), 3)}, "4 bytes came, 3 were announced"},
		{"has a gap", []*frame.Frame{first(5, false), offset(chunk(1, "d"), 4)}, "belongs at offset 4 and came at 3"},
		{"goes on after its end", []*frame.Frame{first(3, true), offset(chunk(1, ""), 3)}, "after the last piece"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := mustCollect(t, &CollectorOptions{Raw: true})
			var err error
			for _, f := range test.chunks {
				if err == nil {
					err = c.Chunk(f)
				}
			}
			if err == nil {
				_, err = c.End(streamEnd(frame.Some(uint64(len(test.chunks)))))
			}
			if test.says == "" && err == nil {
				return
			}
			refuses(t, "End", err, test.says)
		})
	}
}

func TestNothingUnboundedIsCollected(t *testing.T) {
	start := streamStart(frame.Some(false))
	start.Unbounded = frame.Some(true)
	if _, err := NewCollector(start, nil); !errors.Is(err, ErrUnbounded) || frame.KindOf(err) != "" {
		t.Errorf("NewCollector = %v, want %v, of no kind", err, ErrUnbounded)
	}
}

func TestASequenceIsNotJoined(t *testing.T) {
	_, err := NewCollector(streamStart(frame.Some(true)), nil)
	refuses(t, "NewCollector", err, "a sequence where a scalar is due")
	_, err = NewItems(streamStart(frame.Some(false)), nil)
	refuses(t, "NewItems", err, "a scalar where a sequence is due")
}

func TestWhatIsCollectedIsBounded(t *testing.T) {
	for _, raw := range []bool{false, true} {
		c := mustCollect(t, &CollectorOptions{Raw: raw, MaxBytes: 6})
		payload := "\x42ab"
		if raw {
			payload = "abc"
		}
		var err error
		chunks := uint64(0)
		for ; err == nil; chunks++ {
			err = c.Chunk(chunk(chunks, payload))
		}
		if want := uint64(4); !raw && chunks != want || raw && chunks != 3 {
			t.Errorf("raw %t: refused chunk %d", raw, chunks)
		}
		if !errors.Is(err, ErrTooLong) || frame.KindOf(err) != "" {
			t.Errorf("raw %t: Chunk = %v, want %v, of no kind", raw, err, ErrTooLong)
		}
		if data, again := c.End(streamEnd(frame.Some(chunks))); again != err || data != nil {
			t.Errorf("raw %t: End = %q, %v, want the same error", raw, data, again)
		}
	}
}

func ExampleCollector() {
	start := frame.NewStreamStart(frame.Number(1), []byte("arg0"), []byte("media:"))
	c, err := NewCollector(&start, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for f := range NewChunker(&start, 4).Scalar([]byte("hello!")) {
		if err := c.Chunk(f); err != nil {
			fmt.Println(err)
			return
		}
	}
	end := frame.NewStreamEnd(frame.Number(1), []byte("arg0"), frame.Some(uint64(2)))
	data, err := c.End(&end)
	fmt.Printf("%s %v\n", data, err)
	// Output: hello! <nil>
}
