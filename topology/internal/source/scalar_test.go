package source

import (
	"io"
	"strings"
	"testing"
)

func TestClassify(t *testing.T) {
	for class, texts := range map[Class][]string{
		Null:  {"", "~", "null", "Null", "NULL"},
		Bool:  {"true", "True", "TRUE", "false", "False", "FALSE"},
		Int:   {"0", "7", "-1", "+12", "012", "0o17", "0x1F", "99999999999999999999"},
		Float: {"1.5", ".5", "-.5", "1.", "1e3", "1E-3", "+1.5e+10", ".inf", "-.Inf", "+.INF", ".nan", ".NaN"},
		Str: {
			"no", "yes", "on", "off", "y", "nULL", "tRUE", "1_000", "0b1", "0x", "0o8", "0xg", "-", "+", ".", "-.", "e3", ".e3", "1e", "1e+", "1.2.3",
			"2001-01-01", "12:30", "32G", "90s", "--1", "+-1", "-0x1", "-.nan", "1 2", "m0", "<<", "inf", "nan", "0x1.8p1",
		},
	} {
		for _, text := range texts {
			if got := classify(text); got != class {
				t.Errorf("classify(%q) = %v, want %v", text, got, class)
			}
		}
	}
}

// A file of one line takes no longer than one of many: nothing looks for its end anew.
func TestLineReaderCountsLines(t *testing.T) {
	long := strings.Repeat("x", 1000)
	for text, want := range map[string]int{"": 0, "a": 1, "a\n": 1, "a\nb": 2, long: 1, long + "\n": 1, long + "\n" + long: 2, "\n\n": 2} {
		r := &lineReader{data: []byte(text)}
		read, err := io.ReadAll(struct{ io.Reader }{r})
		if err != nil || string(read) != text || r.lines != want {
			t.Errorf("%d bytes read from %d, %d lines, %v, want %d lines", len(read), len(text), r.lines, err, want)
		}
	}
}
