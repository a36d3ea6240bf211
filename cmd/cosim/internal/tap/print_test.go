package tap

import (
	"errors"
	"strings"
	"testing"

	"github.com/cosim-go/cosim/relay/frame"
)

func metaOf(t *testing.T, put func(b *frame.MetaBuilder)) frame.Meta {
	t.Helper()
	var b frame.MetaBuilder
	put(&b)
	m, err := b.Meta()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestText(t *testing.T) {
	long := strings.Repeat("ü", 40)
	for _, test := range []struct {
		name string
		f    frame.Frame
		full bool
		want string
	}{
		{"every kind of field", frame.Frame{Type: frame.TypeChunk, ID: frame.Number(9), Seq: 3, ContentType: []byte("text/plain"),
			Len: frame.Some[uint64](5), EOF: frame.Some(true), StreamID: []byte("")}, false,
			`chunk id=9 seq=3 content_type="text/plain" len=5 eof=true stream_id=""`},
		{"a text that would move the cursor", frame.Frame{Type: frame.TypeReq, Cap: []byte("\x1b[2J\n")}, false, `req seq=0 cap="\x1b[2J\n"`},
		{"a payload that is a text, cut within a character", frame.Frame{Type: frame.TypeEnd, Payload: []byte("x" + long)}, false,
			`end seq=0 payload=[81]"x` + long[:30] + `"…`},
		{"all of it", frame.Frame{Type: frame.TypeEnd, Payload: []byte(long)}, true, `end seq=0 payload=[80]"` + long + `"`},
		{"a payload that is none", frame.Frame{Type: frame.TypeEnd, Payload: []byte{0, 'a', 0xff}}, false, `end seq=0 payload=[3]0061ff`},
		{"values of meta", frame.Frame{Type: frame.TypeLog, Meta: metaOf(t, func(b *frame.MetaBuilder) {
			b.Text("level", "info")
			b.Float("progress", 0.5)
			b.Int("n", -3)
			b.Bool("ok", true)
			b.Bytes("raw", []byte{1})
			b.Raw("null", []byte{0xf6})
			b.Raw("list", []byte{0x82, 0x01, 0x61, 'a'})
			b.Raw("pairs", []byte{0xa1, 0x61, 'k', 0xd8, 0x20, 0x02})
			b.Text("a b", "")
		})}, false,
			`log seq=0 meta={"a b"="" level="info" list=[1, "a"] n=-3 null=null ok=true pairs={"k": tag32(2)} progress=0.5 raw=[1]01}`},
		{"a long text of meta", frame.Frame{Type: frame.TypeErr, Meta: metaOf(t, func(b *frame.MetaBuilder) { b.Text("message", long) })}, false,
			`err seq=0 meta={message=[80]"` + long[:64] + `"…}`},
		{"and all of it", frame.Frame{Type: frame.TypeErr, Meta: metaOf(t, func(b *frame.MetaBuilder) { b.Text("message", long) })}, true,
			`err seq=0 meta={message="` + long + `"}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out strings.Builder
			if err := Text(&out, test.full)(Event{Connection: 2, Kind: Frame, Direction: Back, Offset: 70, Frame: &test.f}); err != nil {
				t.Fatal(err)
			}
			if want := "2 < @70 " + test.want + "\n"; out.String() != want {
				t.Errorf("Text = %s want %s", &out, want)
			}
		})
	}
}

func TestTextOfOtherEvents(t *testing.T) {
	for _, test := range []struct {
		event Event
		want  string
	}{
		{Event{Connection: 1, Kind: Closed}, "1 closed"},
		{Event{Connection: 1, Kind: Cut, Direction: Forward, Offset: 9, Bytes: 3}, "1 > @9 ended within a frame, of which there are 3 bytes"},
		{Event{Connection: 1, Kind: Broken, Direction: Back, Offset: 9, Err: errors.New("reset")}, "1 < @9 broken: reset"},
	} {
		if got := textLine(test.event, false); got != test.want {
			t.Errorf("textLine = %s, want %s", got, test.want)
		}
	}
}

func TestJSON(t *testing.T) {
	long := frame.Frame{Type: frame.TypeRelayState, ID: frame.Number(0), Payload: make([]byte, 33)}
	zeros := strings.Repeat("00", 32)
	const fields = `,"seq":0,"type":11,"type_name":"relay_state","version":4}`
	for _, test := range []struct {
		event Event
		full  bool
		want  string
	}{
		{Event{Connection: 1, Kind: Opened}, false, `{"connection":1,"event":"opened"}`},
		{Event{Connection: 1, Kind: Frame, Direction: Forward, Bytes: 50, Frame: &long}, false,
			`{"connection":1,"event":"frame","direction":"forward","offset":0,"bytes":50,"fields":{"id":{"uint":0},"payload":"` + zeros + `"` + fields + `,"payload_bytes":33}`},
		{Event{Connection: 1, Kind: Frame, Direction: Forward, Bytes: 50, Frame: &long}, true,
			`{"connection":1,"event":"frame","direction":"forward","offset":0,"bytes":50,"fields":{"id":{"uint":0},"payload":"` + zeros + `00"` + fields + `,"payload_bytes":33}`},
		{Event{Connection: 1, Kind: NoFrames, Direction: Back, Offset: 4, Err: errors.New("<no>")}, false,
			`{"connection":1,"event":"no_frames","direction":"back","offset":4,"error":"<no>"}`},
	} {
		var out strings.Builder
		if err := JSON(&out, test.full)(test.event); err != nil {
			t.Fatal(err)
		}
		if out.String() != test.want+"\n" {
			t.Errorf("JSON = %s want %s", &out, test.want)
		}
	}
}
