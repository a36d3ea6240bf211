package main

import (
	"strings"
	"testing"

	"github.com/cosim-go/cosim/relay/call"
)

func TestSplitArg(t *testing.T) {
	for _, test := range []struct{ text, media, source, err string }{
		{"media:=a.txt", "media:", "a.txt", ""},
		{"media:ext=pdf=a.pdf", "media:ext=pdf", "a.pdf", ""},
		{"media:x=a=b", "media:x=a", "b", ""},
		{"media:x;=a=b", "media:x", "a=b", ""},
		{"media:=a=b", "media:", "a=b", ""},
		{"media:x=", "media:x", "", ""},
		{`media:title="a=b"=c`, `media:title="a=b"`, "c", ""},
		{"a.txt", "", "", "there is no ="},
		{"text=a.txt", "", "", "does not begin with a media URN"},
	} {
		media, source, err := splitArg(test.text)
		if media != test.media || source != test.source || (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("splitArg(%q) = %q, %q, %v; want %q, %q, %q", test.text, media, source, err, test.media, test.source, test.err)
		}
	}
}

func TestCallDisplayLine(t *testing.T) {
	d := &callDisplay{progress: -1}
	if got := d.line(); got != "waiting" {
		t.Errorf("at first: %q", got)
	}
	d.expect(2048)
	d.expect(1024)
	d.sent.Store(1536)
	if got := d.line(); got != "sent 1.5 KiB of 3.0 KiB" {
		t.Errorf("before there is progress: %q", got)
	}
	d.event(&call.Event{Kind: call.EventProgress, Progress: 0.5, Log: call.Log{Message: "half of it"}})
	d.event(&call.Event{Kind: call.EventData, Data: make([]byte, 100)})
	if got := d.line(); got != " 50% [############------------]  sent 1.5 KiB of 3.0 KiB  received 100 B  half of it" {
		t.Errorf("half way: %q", got)
	}
	d.expect(-1)
	d.event(&call.Event{Kind: call.EventProgress, Progress: 1})
	if got := d.line(); got != "100% [########################]  sent 1.5 KiB  received 100 B" {
		t.Errorf("at the end: %q", got)
	}
}

func TestHumanBytes(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 5 << 20: "5.0 MiB", 3 << 30: "3.0 GiB", 1 << 50: "1024.0 TiB"} {
		if got := humanBytes(n); got != want {
			t.Errorf("humanBytes(%d) = %s, want %s", n, got, want)
		}
	}
}

func TestSuggest(t *testing.T) {
	for _, test := range []struct {
		name  string
		names []string
		want  string
	}{
		{"cap:hsah", []string{"cap:count", "cap:hash"}, `did you mean "cap:hash"?`},
		{"cap:z;a", []string{"cap:a;y"}, `did you mean "cap:a;y"?`},
		{"cap:hash", []string{"cap:compress", "cap:words"}, "caps there are: cap:compress, cap:words"},
		{"cap:hash", strings.Fields("cap:one cap:two cap:three cap:four cap:five cap:six"), "caps there are: cap:one, cap:two, cap:three, cap:four, cap:five, and 1 more; see cosim relay status"},
		{"cap:hash", nil, "no host offers any caps now; see cosim relay status"},
	} {
		if got := suggest(test.name, test.names, "caps"); len(got) != 1 || got[0] != test.want {
			t.Errorf("suggest(%s) = %q, want %q", test.name, got, test.want)
		}
	}
}
