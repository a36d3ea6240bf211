package frame_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/cosim-go/cosim/relay/frame"
)

func TestErr(t *testing.T) {
	for a := frame.AttributionInput; a <= frame.AttributionUser; a++ {
		want := frame.ErrInfo{Code: []byte("BOOM"), Attribution: a, Message: []byte("it broke"), ArgURN: []byte("media:x")}
		f, err := frame.NewErr(sampleID, want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := decoded(t, encoded(t, &f)).ErrInfo()
		if err != nil || string(got.Code) != "BOOM" || got.Attribution != a || string(got.Message) != "it broke" || string(got.ArgURN) != "media:x" {
			t.Errorf("ErrInfo = %+v, %v, want %+v", got, err, want)
		}
	}
}

func TestErrInfoRefuses(t *testing.T) {
	good := map[string]string{"code": "61 43", "message": "61 6d", "attribution_class": "65 69 6e 70 75 74"}
	for _, c := range []struct{ name, key, value string }{
		{"no code", "code", ""},
		{"a blank code", "code", "60"},
		{"a code that is no text", "code", "01"},
		{"no message", "message", ""},
		{"a blank message", "message", "61 09"},
		{"no class", "attribution_class", ""},
		{"an unknown class", "attribution_class", "6a 75 73 65 72 2d 65 72 72 6f 72"},
		{"an empty class", "attribution_class", "60"},
		{"an empty argument", "arg_urn", "60"},
		{"an argument that is no text", "arg_urn", "01"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := frame.Frame{Type: frame.TypeErr, Meta: changed(t, good, c.key, c.value)}
			e, err := f.ErrInfo()
			if !errors.Is(err, frame.ErrProtocol) || !strings.Contains(err.Error(), c.key) {
				t.Errorf("ErrInfo = %v, want protocol about %s", err, c.key)
			}
			if c.key == "attribution_class" && e.Attribution != frame.NoAttribution {
				t.Errorf("ErrInfo made up class %v", e.Attribution)
			}
			if c.key != "code" && string(e.Code) != "C" {
				t.Errorf("ErrInfo lost the code of a bad frame: %q", e.Code)
			}
		})
	}
	end := frame.NewBodyEnd(sampleID)
	if _, err := end.ErrInfo(); !errors.Is(err, frame.ErrProtocol) {
		t.Errorf("ErrInfo of an end = %v, want protocol", err)
	}
	none := frame.Frame{Type: frame.TypeErr}
	if e, err := none.ErrInfo(); !errors.Is(err, frame.ErrProtocol) || e.Attribution != frame.NoAttribution || e.Code != nil {
		t.Errorf("ErrInfo without meta = %+v, %v, want protocol", e, err)
	}
}

func TestNewErrRefuses(t *testing.T) {
	c, m := []byte("C"), []byte("m")
	for _, e := range []frame.ErrInfo{
		{},
		{Code: c, Message: m},
		{Code: c, Attribution: frame.AttributionInput},
		{Message: m, Attribution: frame.AttributionInput},
		{Code: c, Message: m, Attribution: frame.AttributionInput, ArgURN: []byte(" ")},
		{Code: []byte{0xc3}, Message: m, Attribution: frame.AttributionInput},
	} {
		if _, err := frame.NewErr(sampleID, e); frame.KindOf(err) != frame.ErrEncode {
			t.Errorf("NewErr(%+v) = %v, want encode", e, err)
		}
	}
}

func TestAttribution(t *testing.T) {
	for a, name := range map[frame.Attribution]string{
		frame.AttributionInput: "input", frame.AttributionResource: "resource", frame.AttributionEnvironment: "environment",
		frame.AttributionInternal: "internal", frame.AttributionUser: "user",
	} {
		got, ok := frame.ParseAttribution([]byte(name))
		if !ok || got != a || a.String() != name {
			t.Errorf("ParseAttribution(%s) = %v, %v; String = %s", name, got, ok, a)
		}
	}
	for _, name := range []string{"", "Input", "input ", "none"} {
		if a, ok := frame.ParseAttribution([]byte(name)); ok || a != frame.NoAttribution {
			t.Errorf("ParseAttribution(%q) = %v, %v, want none", name, a, ok)
		}
	}
	if frame.Attribution(99).String() != "" || frame.NoAttribution.String() != "" {
		t.Error("a class that is none has a name")
	}
}
