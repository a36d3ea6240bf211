package diag

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
)

func ExampleWriteText() {
	list := List{
		{
			Pos:     Pos{"examples/two.yaml", 14, 7},
			Message: `device "GPU0" differs from "gpu0" in case alone`,
			Related: []Related{{Pos{"examples/two.yaml", 9, 7}, `"gpu0" is declared here`}},
		},
		{
			Pos:     Pos{"examples/two.yaml", 12, 9},
			Message: `unknown field "memroy" in vhost`,
			Hint:    `did you mean "memory"?`,
		},
		{
			Pos:      Pos{"examples/two.yaml", 3, 3},
			Severity: Warning,
			Message:  `template "old" is empty`,
		},
	}
	WriteText(os.Stdout, list)
	// Output:
	// examples/two.yaml:3:3: warning: template "old" is empty
	// examples/two.yaml:12:9: unknown field "memroy" in vhost
	// 	hint: did you mean "memory"?
	// examples/two.yaml:14:7: device "GPU0" differs from "gpu0" in case alone
	// 	examples/two.yaml:9:7: "gpu0" is declared here
}

func text(t *testing.T, l List) string {
	t.Helper()
	var b strings.Builder
	if err := WriteText(&b, l); err != nil {
		t.Fatalf("WriteText = %v, want no error", err)
	}
	return b.String()
}

func TestWriteText(t *testing.T) {
	at := Pos{"a.yaml", 1, 2}
	tests := []struct {
		name string
		list List
		want string
	}{
		{"nothing", nil, ""},
		{"file alone", List{{Pos: Pos{File: "a.yaml"}, Message: "is empty"}}, "a.yaml: is empty\n"},
		{"no place", List{{Message: "no documents"}}, "no documents\n"},
		{"related without a place", List{{Pos: at, Message: "m", Related: []Related{{Message: "in kind \"k\""}}}}, "a.yaml:1:2: m\n\tin kind \"k\"\n"},
		{"hint before related", List{{Pos: at, Message: "m", Hint: "h", Related: []Related{{at, "r"}}}}, "a.yaml:1:2: m\n\thint: h\n\ta.yaml:1:2: r\n"},
		{"percent is text", List{{Pos: at, Message: "100%s"}}, "a.yaml:1:2: 100%s\n"},
		{"other scripts and backslashes stay", List{{Pos: at, Message: `größe "日本" \d`}}, "a.yaml:1:2: größe \"日本\" \\d\n"},
		{"newlines", List{{Pos: at, Message: "a\nb.yaml:1:1: c", Hint: "x\r\ny", Related: []Related{{Pos{"d\n", 1, 1}, "e\tf"}}}},
			"a.yaml:1:2: a\\nb.yaml:1:1: c\n\thint: x\\r\\ny\n\td\\n:1:1: e\\tf\n"},
		{"escape sequences", List{{Pos: Pos{"\x1b[2J.yaml", 1, 1}, Message: "\x1b]0;title\x07 \x7f \u009b31m"}}, "\\x1b[2J.yaml:1:1: \\x1b]0;title\\x07 \\x7f \\u009b31m\n"},
		{"directions and odd spaces", List{{Message: "a\u202eb \u2066c \u2028d\u00a0e\u200bf \U000e0041"}}, "a\\u202eb \\u2066c \\u2028d\\u00a0e\\u200bf \\U000e0041\n"},
		{"bytes that are not UTF-8", List{{Message: "a\xff\xc3 \ufffd"}}, "a\\xff\\xc3 \ufffd\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := text(t, tt.list); got != tt.want {
				t.Errorf("WriteText = %q, want %q", got, tt.want)
			}
		})
	}
}

func numbered(n int, s Severity, hint string) List {
	var l List
	for i := range n {
		l = append(l, Diagnostic{Pos: Pos{"a.yaml", i + 1, 1}, Severity: s, Message: "m", Hint: hint})
	}
	return l
}

func TestWriteTextStopsAfterMaxLines(t *testing.T) {
	tests := []struct {
		name  string
		list  List
		lines int
		last  string
	}{
		{"as many as fit", numbered(200, Error, ""), 200, "a.yaml:200:1: m"},
		{"one more", numbered(201, Error, ""), 201, "... and 1 more error"},
		{"many more", numbered(5000, Error, ""), 201, "... and 4800 more errors"},
		{"warnings", numbered(202, Warning, ""), 201, "... and 2 more warnings"},
		{"both", append(numbered(300, Error, ""), Diagnostic{Pos: Pos{"b.yaml", 1, 1}, Severity: Warning}), 201, "... and 100 more errors and 1 warning"},
		{"hints count as lines", numbered(101, Error, "h"), 201, "... and 1 more error"},
		{"no finding is cut", append(numbered(1, Error, ""), numbered(100, Error, "h")[1:]...), 199, "\thint: h"},
		{"where the next would be cut", append(numbered(1, Error, ""), numbered(101, Error, "h")[1:]...), 200, "... and 1 more error"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			lines := strings.Split(strings.TrimSuffix(text(t, tt.list), "\n"), "\n")
			if len(lines) != tt.lines || lines[len(lines)-1] != tt.last {
				t.Errorf("%d lines, last %q, want %d, %q", len(lines), lines[len(lines)-1], tt.lines, tt.last)
			}
		})
	}
}

func TestWriteTextCountsTheRelatedPlacesOfOneFinding(t *testing.T) {
	d := Diagnostic{Message: "m", Hint: "h"}
	for i := range 1000 {
		d.Related = append(d.Related, Related{Pos{"a.yaml", i + 1, 1}, "here"})
	}
	lines := strings.SplitAfter(text(t, List{d, {Pos: Pos{"a.yaml", 1, 1}, Message: "another"}}), "\n")
	want := []string{"m\n", "\thint: h\n", "\ta.yaml:197:1: here\n", "\t... and 803 more places\n", "... and 1 more error\n", ""}
	got := []string{lines[0], lines[1], lines[198], lines[199], lines[200], lines[201]}
	if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
		t.Errorf("lines = %q, want %q", got, want)
	}
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestWritersReturnTheError(t *testing.T) {
	l := numbered(1, Error, "")
	if err := WriteText(failingWriter{}, l); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("WriteText = %v, want %v", err, io.ErrClosedPipe)
	}
	if err := WriteJSON(failingWriter{}, nil); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("WriteJSON = %v, want %v", err, io.ErrClosedPipe)
	}
}

// FuzzWrite holds both writers to what a terminal and a parser may rely on, whatever
// a file's name and content put into a diagnostic.
func FuzzWrite(f *testing.F) {
	f.Add("a.yaml", "unknown field \"x\"", "did you mean \"y\"?", "declared here", 3)
	f.Add("\x1b[1m", "a\nb", "\u202e", "\xff\x80", 0)
	f.Add("", "", "\U0001f600\U000e0001", "\x7f\u0085", -1)
	f.Fuzz(func(t *testing.T, file, message, hint, related string, line int) {
		list := List{
			{Pos: Pos{file, line, 1}, Message: message, Hint: hint, Related: []Related{{Pos{file, 1, 1}, related}}},
			{Severity: Warning, Message: related},
		}
		wantLines := 3
		if hint != "" {
			wantLines++
		}
		out := text(t, list)
		lines := strings.SplitAfter(out, "\n")
		if len(lines) != wantLines+1 || lines[wantLines] != "" {
			t.Fatalf("%q is not %d lines", out, wantLines)
		}
		for _, l := range lines[:wantLines] {
			requireVisible(t, strings.TrimPrefix(strings.TrimSuffix(l, "\n"), "\t"))
		}
		checkJSON(t, list)
	})
}

func requireVisible(t *testing.T, s string) {
	t.Helper()
	for i, r := range s {
		if !visible(r) {
			t.Fatalf("%q has %U at %d, which a terminal may obey", s, r, i)
		}
	}
}

// A document may hold texts of any length, and messages quote them.
func TestWriteTextLeavesTheMiddleOfLongTextsOut(t *testing.T) {
	long := strings.Repeat("ä", 1<<20)
	var b strings.Builder
	if err := WriteText(&b, List{{Pos: Pos{"f.yaml", 1, 2}, Message: "begin " + long + " end", Hint: long, Related: []Related{{Pos{"f.yaml", 3, 4}, long}}}}); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); len(got) > 4*maxShown || !strings.HasPrefix(got, "f.yaml:1:2: begin ä") || !strings.Contains(got, "ä…ä") || !strings.Contains(got, "ä end\n\thint: ä") {
		t.Errorf("WriteText wrote %d bytes, starting with %q", len(got), got[:min(len(got), 100)])
	}
}
