package proc

import (
	"strings"
	"testing"
)

func TestParseStat(t *testing.T) {
	line := "12 (a) b ( c) S 1 34 34 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 9876 100 200 18446744073709551615" +
		" 1 2 3 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0 1 2 3 4 5 6 777 0"
	got, err := parseStat([]byte(line))
	if want := (stat{'S', 1, 34, 9876, 100, 777}); err != nil || got != want {
		t.Errorf("parseStat(%q) = %v, %v, want %v", line, got, err, want)
	}
	if _, err := parseStat([]byte(strings.Repeat("1 ", 5))); err == nil {
		t.Error("parseStat of a short line = nil, want an error")
	}
}
