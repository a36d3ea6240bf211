package source

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/cosim-go/cosim/topology/diag"
	"github.com/cosim-go/cosim/topology/schema"
)

// A start is where a line, as the YAML parser counts lines, starts in the file.
type start struct{ line, column int }

const (
	bom       = "\ufeff"
	nextLine  = '\u0085' // with the two below what YAML 1.1, and so the parser, takes for the end of a line
	lineSep   = '\u2028'
	paraSep   = '\u2029'
	utf16BE   = "\xfe\xff"
	utf16LE   = "\xff\xfe"
	wrongCode = "document is not UTF-8"
)

// checkText checks that data is text that YAML allows, and tells whether it has a CR that
// ends a line by itself, as YAML has it and editors do not.
func checkText(name string, data []byte) (oddBreaks bool, problem *diag.Diagnostic) {
	if bytes.HasPrefix(data, []byte(utf16BE)) || bytes.HasPrefix(data, []byte(utf16LE)) {
		return false, &diag.Diagnostic{
			Pos: diag.Pos{File: name, Line: 1, Column: 1}, Code: schema.Encoding,
			Message: wrongCode + " but UTF-16", Hint: "save the file as UTF-8",
		}
	}
	for i := 0; i < len(data); {
		c := data[i]
		if c >= 0x20 && c < 0x7f || c == '\n' || c == '\t' {
			i++
			continue
		}
		if c == '\r' {
			i++
			oddBreaks = oddBreaks || i == len(data) || data[i] != '\n'
			continue
		}
		r, size := utf8.DecodeRune(data[i:])
		if message, hint := forbidden(r, size); message != "" {
			return false, &diag.Diagnostic{Pos: positionAt(name, data, i), Code: schema.Encoding, Message: message, Hint: hint}
		}
		i += size
	}
	return oddBreaks, nil
}

// forbidden says what is wrong with a character: YAML 1.2, section 5.1, allows the
// printable ones alone.
func forbidden(r rune, size int) (message, hint string) {
	switch {
	case r == utf8.RuneError && size <= 1:
		return wrongCode, "save the file as UTF-8"
	case r == 0:
		return "document holds a NUL", "save the file as UTF-8 text"
	case r == '\ufeff':
		return "byte order mark in the middle of the document", "remove the character U+FEFF"
	case r == nextLine || r == lineSep || r == paraSep:
		return fmt.Sprintf("line break U+%04X", r), fmt.Sprintf(`write it as "\u%04x" in double quotes, or end the line in the usual way`, r)
	case r < 0x20 || r >= 0x7f && r < 0xa0 || r == '\ufffe' || r == '\uffff':
		return fmt.Sprintf("control character U+%04X", r), fmt.Sprintf(`write it as "\u%04x" in double quotes`, r)
	}
	return "", ""
}

// positionAt finds the line and column of an offset in bytes.
func positionAt(name string, data []byte, offset int) diag.Pos {
	before := data[:offset]
	line := bytes.Count(before, []byte{'\n'})
	last := before[bytes.LastIndexByte(before, '\n')+1:]
	return diag.Pos{File: name, Line: line + 1, Column: utf8.RuneCount(last) + 1}
}

// lineStarts finds where each line starts as the YAML parser counts them, for files
// that have others than those that end in LF.
func lineStarts(data []byte) []start {
	at := start{1, 1}
	starts := []start{at}
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		i += size
		at.column++
		switch {
		case r == '\n':
			at = start{at.line + 1, 1}
		case r == '\r' && i < len(data) && data[i] == '\n':
			continue
		case r != '\r':
			continue
		}
		starts = append(starts, at)
	}
	return starts
}
