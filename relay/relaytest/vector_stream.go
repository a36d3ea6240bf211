package relaytest

import (
	"bytes"
	"errors"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/cosim-go/cosim/relay/frame"
)

// checkStream checks what a reader yields of a stream, read at once and a byte at a time,
// decoded and not.
func checkStream(c *vectorCase, _ []any) {
	c.knows("name", "hex", "max_frame", "outcomes")
	c.text("name")
	stream, most := c.hex("hex"), c.number("max_frame")
	want := c.outcomes()
	if c.has("max_frame") && (most == 0 || most > math.MaxInt32) {
		c.fail("max_frame is no limit of a reader: %d", most)
	}
	if len(c.failures) > 0 {
		return
	}
	for _, size := range []int{0, 1} {
		for _, decode := range []bool{true, false} {
			in := Inject(&sourceConn{bytes.NewReader(stream)}, Faults{ReadSize: size})
			got := streamOutcomes(in, int(most), decode)
			if !slices.Equal(got, want) {
				c.fail("outcomes = %s, want %s", strings.Join(got, " "), strings.Join(want, " "))
				return
			}
		}
	}
}

// outcomes returns the outcomes that a case states.
func (c *vectorCase) outcomes() []string {
	var outcomes []string
	list := c.list("outcomes")
	for i, v := range list {
		text, _ := v.(string)
		name, isFrame := strings.CutPrefix(text, "frame:")
		_, known := frame.ParseType(name)
		if !(isFrame && known) && !isEnd(text) {
			c.fail("unknown outcome %s", jsonText(v))
		} else if last := i == len(list)-1; last == isFrame {
			c.fail("outcome %d: %s: an end is the last outcome, and nothing else is", i, text)
		}
		outcomes = append(outcomes, text)
	}
	if c.has("outcomes") && len(list) == 0 {
		c.fail("no outcomes")
	}
	return outcomes
}

func isEnd(outcome string) bool {
	kind, isError := strings.CutPrefix(outcome, "error:")
	switch frame.Kind(kind) {
	case frame.ErrDecode, frame.ErrInvalidFrame, frame.ErrFrameTooLarge, frame.ErrUnexpectedEOF:
		return isError
	}
	return outcome == "eof"
}

// streamOutcomes reads to the end, and once more: an end is for good.
func streamOutcomes(in io.Reader, maxFrame int, decode bool) []string {
	r := frame.NewReader(in, &frame.ReaderOptions{MaxFrame: maxFrame})
	next := func() (frame.Type, error) {
		if !decode {
			head, err := r.NextHead()
			if err != nil {
				return 0, err
			}
			return head.Type, nil
		}
		f, err := r.Next()
		if err != nil {
			return 0, err
		}
		return f.Type, nil
	}
	var outcomes []string
	for {
		t, err := next()
		if err == nil {
			outcomes = append(outcomes, "frame:"+t.String())
			continue
		}
		outcomes = append(outcomes, endOf(err))
		if _, again := next(); again == nil || endOf(again) != endOf(err) {
			outcomes = append(outcomes, "another end")
		}
		return outcomes
	}
}

func endOf(err error) string {
	if errors.Is(err, io.EOF) {
		return "eof"
	}
	return "error:" + string(frame.KindOf(err))
}

// A sourceConn is a connection from which there is only something to read.
type sourceConn struct{ io.Reader }

func (*sourceConn) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }
func (*sourceConn) CloseWrite() error         { return nil }
func (*sourceConn) Close() error              { return nil }
