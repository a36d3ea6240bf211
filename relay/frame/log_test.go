package frame_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/cosim-go/cosim/relay/frame"
)

func TestLog(t *testing.T) {
	for _, want := range []frame.LogInfo{
		{Level: []byte("warn"), Message: []byte("m"), Attribution: frame.AttributionInternal},
		{Level: []byte("own level"), Message: []byte("m"), Attribution: frame.AttributionUser, ArgURN: []byte("media:x")},
		{Level: []byte("progress"), Message: []byte("half"), Progress: frame.Some(0.5)},
		{Level: []byte("progress"), Message: []byte("start"), Progress: frame.Some(0.0)},
	} {
		f, err := frame.NewLog(sampleID, want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := decoded(t, encoded(t, &f)).LogInfo()
		if err != nil || !sameLog(got, want) {
			t.Errorf("LogInfo = %+v, %v, want %+v", got, err, want)
		}
	}
}

func sameLog(a, b frame.LogInfo) bool {
	return string(a.Level) == string(b.Level) && string(a.Message) == string(b.Message) && a.Attribution == b.Attribution &&
		string(a.ArgURN) == string(b.ArgURN) && a.Progress == b.Progress
}

func TestLogOfProgressHasItsLevelAndNoAttribution(t *testing.T) {
	f, err := frame.NewLog(sampleID, frame.LogInfo{
		Level: []byte("info"), Message: []byte("m"), Progress: frame.Some(1.0), Attribution: frame.AttributionInput, ArgURN: []byte("media:x"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if level, _ := f.Meta.Text("level"); string(level) != frame.LevelProgress {
		t.Errorf("level = %s, want progress", level)
	}
	for _, name := range []string{"attribution_class", "arg_urn"} {
		if _, ok := f.Meta.Lookup(name); ok {
			t.Errorf("a log of progress has %s", name)
		}
	}
}

func TestLogProgressOfEveryWidth(t *testing.T) {
	for _, number := range []string{"f9 3400", "fa 3e800000", "fb 3fd0000000000000"} {
		if got := readProgress(t, number); got != frame.Some(0.25) {
			t.Errorf("progress %s = %v, want 0.25", number, got)
		}
	}
	if got := readProgress(t, "01"); got != frame.Some(1.0) {
		t.Errorf("progress 01 = %v, want 1", got)
	}
}

func readProgress(t *testing.T, number string) frame.Optional[float64] {
	t.Helper()
	var b frame.MetaBuilder
	b.Text("level", "progress")
	b.Text("message", "m")
	b.Raw("progress", unhex(t, number))
	f := frame.Frame{Type: frame.TypeLog, Meta: built(t, &b)}
	l, err := f.LogInfo()
	if err != nil {
		t.Errorf("LogInfo with progress %s = %v", number, err)
	}
	return l.Progress
}

func TestLogInfoRefuses(t *testing.T) {
	good := map[string]string{"level": "64 77 61 72 6e", "message": "61 6d", "attribution_class": "65 69 6e 70 75 74"}
	progress := map[string]string{"level": "68 70 72 6f 67 72 65 73 73", "message": "61 6d", "progress": "f9 3800"}
	for _, c := range []struct {
		name        string
		from        map[string]string
		key, value  string // what is put in its place; "" leaves it out
		wantMention string
	}{
		{"no level", good, "level", "", "level"},
		{"a blank level", good, "level", "61 20", "level"},
		{"a level that is no text", good, "level", "01", "level"},
		{"no message", good, "message", "", "message"},
		{"a blank message", good, "message", "62 20 0a", "message"},
		{"no class", good, "attribution_class", "", "attribution_class"},
		{"an unknown class", good, "attribution_class", "66 496e7075742e", "attribution_class"},
		{"a class that is no text", good, "attribution_class", "45 69 6e 70 75 74", "attribution_class"},
		{"an empty argument", good, "arg_urn", "60", "arg_urn"},
		{"an argument that is no text", good, "arg_urn", "41 61", "arg_urn"},
		{"an argument that is null", good, "arg_urn", "f6", "arg_urn"},
		{"no figure", progress, "progress", "", "progress"},
		{"a figure that is text", progress, "progress", "61 31", "progress"},
		{"a figure above 1", progress, "progress", "02", "progress"},
		{"a figure below 0", progress, "progress", "f9 b800", "progress"},
		{"a figure that is none", progress, "progress", "f9 7e00", "progress"},
		{"progress without message", progress, "message", "", "message"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := frame.Frame{Type: frame.TypeLog, Meta: changed(t, c.from, c.key, c.value)}
			l, err := f.LogInfo()
			if !errors.Is(err, frame.ErrProtocol) || !strings.Contains(err.Error(), c.wantMention) {
				t.Errorf("LogInfo = %v, want protocol about %s", err, c.wantMention)
			}
			if c.key == "attribution_class" && l.Attribution != frame.NoAttribution {
				t.Errorf("LogInfo made up class %v", l.Attribution)
			}
			if c.key != "message" && string(l.Message) != "m" {
				t.Errorf("LogInfo lost the message of a bad frame: %q", l.Message)
			}
		})
	}
	end := frame.NewBodyEnd(sampleID)
	if _, err := end.LogInfo(); !errors.Is(err, frame.ErrProtocol) {
		t.Errorf("LogInfo of an end = %v, want protocol", err)
	}
}

// changed returns a meta of items in hexadecimal, with one replaced or left out.
func changed(t *testing.T, from map[string]string, key, value string) frame.Meta {
	t.Helper()
	var b frame.MetaBuilder
	for name, item := range from {
		if name != key {
			b.Raw(name, unhex(t, item))
		}
	}
	if value != "" {
		b.Raw(key, unhex(t, value))
	}
	return built(t, &b)
}

func TestNewLogRefuses(t *testing.T) {
	m := []byte("m")
	for _, l := range []frame.LogInfo{
		{},
		{Level: []byte("info"), Message: m},
		{Level: []byte("info"), Message: m, Attribution: 99},
		{Level: []byte(" "), Message: m, Attribution: frame.AttributionInput},
		{Level: []byte("info"), Message: []byte(" "), Attribution: frame.AttributionInput},
		{Level: []byte("info"), Message: []byte{0xff}, Attribution: frame.AttributionInput},
		{Level: []byte("info"), Message: m, Attribution: frame.AttributionInput, ArgURN: []byte{}},
		{Level: []byte("progress"), Message: m, Attribution: frame.AttributionInput},
		{Message: m, Progress: frame.Some(1.5)},
		{Message: m, Progress: frame.Some(math.NaN())},
		{Progress: frame.Some(0.5)},
	} {
		if _, err := frame.NewLog(sampleID, l); frame.KindOf(err) != frame.ErrEncode {
			t.Errorf("NewLog(%+v) = %v, want encode", l, err)
		}
	}
}
