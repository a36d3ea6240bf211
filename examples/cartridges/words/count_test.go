package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestWordsAreCountedAcrossWrites(t *testing.T) {
	text := "  one two\n\tthree\r\n\nfour"
	for size := range len(text) {
		var c counter
		for rest := []byte(text); len(rest) > 0; {
			n := min(size+1, len(rest))
			c.Write(rest[:n])
			rest = rest[n:]
		}
		if c.lines != strings.Count(text, "\n") || c.words != len(strings.Fields(text)) || c.bytes != len(text) {
			t.Errorf("in writes of %d bytes: %d lines, %d words, %d bytes", size+1, c.lines, c.words, c.bytes)
		}
	}
}

func TestNothingHasNoWords(t *testing.T) {
	var c counter
	if n, err := c.Write(bytes.Repeat([]byte(" \n"), 3)); n != 6 || err != nil || c.words != 0 || c.lines != 3 {
		t.Errorf("Write = %d, %v; %d words, %d lines", n, err, c.words, c.lines)
	}
}
