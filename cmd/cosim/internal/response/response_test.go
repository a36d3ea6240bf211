package response

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/frame"
)

var (
	out   = &call.Stream{ID: "out", Media: "media:enc=utf-8", Sequence: frame.Some(false)}
	other = &call.Stream{ID: "../ü", Media: "media:ext=gz", Sequence: frame.Some(true), Unbounded: true}
)

func item(cbor string) *call.Event {
	return &call.Event{Kind: call.EventItem, Stream: other, Item: call.Item{CBOR: []byte(cbor)}}
}

// two is a response of two streams.
func two() []*call.Event {
	return []*call.Event{
		{Kind: call.EventLog, Log: call.Log{Level: "info", Message: "hello", Attribution: frame.AttributionInput, ArgURN: "media:x"}},
		{Kind: call.EventStart, Stream: out},
		{Kind: call.EventData, Stream: out, Data: []byte("a\x00")},
		{Kind: call.EventStart, Stream: other},
		item("\x63two"), item("\x42\x00\x01"), item("\xa1\x61n\x82\x01\xf4"), item("\x60"), item("\x40"),
		{Kind: call.EventData, Stream: out, Data: []byte("b")},
		{Kind: call.EventEnd, Stream: out},
		{Kind: call.EventProgress, Progress: 0.5, Log: call.Log{Level: "progress", Message: "half"}},
		{Kind: call.EventEnd, Stream: other},
	}
}

const items = "two\n\x00\x01{\"n\": [1, false]}\n\n"

func TestToDirectory(t *testing.T) {
	dir := t.TempDir()
	s := ToDirectory(dir)
	for _, e := range two() {
		if err := s.Event(e); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{"1": "a\x00b", "2.gz": items} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); string(got) != want {
			t.Errorf("%s has %q, %v, want %q", name, got, err, want)
		}
	}
}

func TestFileName(t *testing.T) {
	for media, want := range map[string]string{
		"media:": "3", "media:ext": "3", "media:ext=pdf;x": "3.pdf", `media:ext="../x"`: "3", "media:ext!=pdf": "3", "none": "3",
		"media:ext=" + strings.Repeat("x", 17): "3",
	} {
		if got := fileName(3, media); got != want {
			t.Errorf("fileName of %s = %s, want %s", media, got, want)
		}
	}
}

func TestOnePlace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	var w bytes.Buffer
	for name, s := range map[string]*Streams{"writer": To(&w), "file": ToFile(path)} {
		var failed error
		for _, e := range two() {
			if failed = s.Event(e); failed != nil {
				break
			}
		}
		var several *SeveralError
		if !errors.As(failed, &several) || several.Media != other.Media {
			t.Errorf("%s: the second stream: %v", name, failed)
		}
		s.Close()
	}
	if got, err := os.ReadFile(path); string(got) != "a\x00" || w.String() != "a\x00" {
		t.Errorf("the file has %q, %v, the writer %q", got, err, &w)
	}
	s := ToFile(filepath.Join(path, "below"))
	var place *PlaceError
	var file *fs.PathError
	if err := s.Event(two()[1]); !errors.As(err, &place) || !errors.As(err, &file) {
		t.Errorf("a file that cannot be: %v", err)
	}
	// A response without streams makes no file.
	if _, err := os.Stat(path + "2"); err == nil {
		t.Error("there is a file")
	}
}

func TestEvents(t *testing.T) {
	for _, inline := range []bool{true, false} {
		var w bytes.Buffer
		e := NewEvents(&w, inline)
		for _, event := range two() {
			if err := e.Event(event); err != nil {
				t.Fatal(err)
			}
		}
		e.Success(frame.EndInfo{ExitCode: frame.Some[int64](0), Message: []byte("done")})
		e.Failure(&call.Error{Code: "NO_HANDLER", Attribution: frame.AttributionEnvironment, Message: "nobody"})
		want := inlined
		if !inline {
			want = sizes.Replace(inlined)
		}
		if got := w.String(); got != want {
			t.Errorf("inline %v: the events are\n%s\nwant\n%s", inline, got, want)
		}
	}
}

// sizes leaves data and items out.
var sizes = strings.NewReplacer(`,"data":"YQA="`, "", `,"data":"Yg=="`, "", `,"data":"AAE="`, "", `,"text":"two"`, "", `,"text":""`, "", `,"diagnostic":"{\"n\": [1, false]}"`, "")

const inlined = `{"event":"log","level":"info","attribution_class":"input","message":"hello","arg_urn":"media:x"}
{"event":"start","stream":"out","media":"media:enc=utf-8","is_sequence":false}
{"event":"data","stream":"out","bytes":2,"data":"YQA="}
{"event":"start","stream":"../ü","media":"media:ext=gz","is_sequence":true,"unbounded":true}
{"event":"item","stream":"../ü","bytes":4,"text":"two"}
{"event":"item","stream":"../ü","bytes":3,"data":"AAE="}
{"event":"item","stream":"../ü","bytes":6,"diagnostic":"{\"n\": [1, false]}"}
{"event":"item","stream":"../ü","bytes":1,"text":""}
{"event":"item","stream":"../ü","bytes":1}
{"event":"data","stream":"out","bytes":1,"data":"Yg=="}
{"event":"end","stream":"out"}
{"event":"progress","message":"half","progress":0.5}
{"event":"end","stream":"../ü"}
{"event":"success","message":"done","progress":1}
{"event":"error","code":"NO_HANDLER","attribution_class":"environment","message":"nobody"}
`
