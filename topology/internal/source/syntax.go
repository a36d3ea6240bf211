package source

import (
	"bytes"
	"cmp"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/cosim-go/cosim/topology/diag"
	"github.com/cosim-go/cosim/topology/schema"
)

// explain turns an error of the YAML parser into a diagnostic. The parser tells a line
// at best, often that of the construct around the problem, and never a column, so the
// place is searched for: the problem is on the last line of the shortest beginning of
// the file that the parser refuses in the same words.
func (f *File) explain(err error) diag.Diagnostic {
	n := f.failingLine(err)
	told := parserMessage.ReplaceAllString(err.Error(), "")
	d := diag.Diagnostic{Code: schema.YAMLSyntax, Message: told}
	if at := tabAt(f.lineAt(n), told); at >= 0 {
		d.Code, d.Message, d.Hint = schema.TabIndent, "a tab cannot indent in YAML", "use spaces"
		d.Pos = f.offsetIn(n, at)
		return d
	}
	for _, c := range causes {
		if !strings.Contains(told, c.told) {
			continue
		}
		if line, at, ok := f.find(c, n, told); ok {
			d.Message, d.Hint, d.Pos = c.message, c.hint, f.offsetIn(line, at)
			d.Code = cmp.Or(c.code, d.Code)
			return d
		}
	}
	d.Pos = f.offsetIn(n, indentOf(f.lineAt(n)))
	return d
}

// find looks for the place of a cause on line n, and on the lines above it that the
// cause may stand on.
func (f *File) find(c cause, n int, told string) (line, at int, ok bool) {
	for line = n; line > max(0, n-1-c.above); line-- {
		if at = c.find(f.lineAt(line), told); at >= 0 {
			return line, at, true
		}
	}
	return 0, 0, false
}

// offsetIn is the position of an offset, in bytes, in a line.
func (f *File) offsetIn(line, offset int) diag.Pos {
	return diag.Pos{File: f.Name, Line: line, Column: utf8.RuneCountInString(f.lineAt(line)[:offset]) + 1}
}

var parserMessage = regexp.MustCompile(`^yaml: (line (\d+): )?`)

// lineTold is the line in the parser's message, and 0 where it has none.
func lineTold(err error) int {
	m := parserMessage.FindStringSubmatch(err.Error())
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[2])
	return n
}

// longFile is the length in bytes above which the search for the line of a syntax error
// ends after a single run of the parser, at the last line that it asks for.
const longFile = 1 << 18

// failingLine finds the line of a syntax error.
func (f *File) failingLine(err error) int {
	lines := f.lines()
	high := min(f.linesRead(), len(lines))
	if len(f.data) > longFile {
		return min(max(high, lineTold(err)), len(lines))
	}
	low := 1
	for low < high {
		middle := (low + high) / 2
		if _, _, e := run(f.data[:lines[middle]]); e != nil && e.Error() == err.Error() {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low
}

// linesRead counts the lines that the parser asks for until it fails.
func (f *File) linesRead() int {
	r := &lineReader{data: f.data}
	func() {
		defer func() { _ = recover() }()
		var n yaml.Node
		for d := yaml.NewDecoder(r); d.Decode(&n) == nil; {
		}
	}()
	return max(1, r.lines)
}

// A lineReader hands out one line at a time.
type lineReader struct {
	data  []byte
	lines int
}

func (r *lineReader) Read(p []byte) (int, error) {
	if len(r.data) == 0 {
		return 0, io.EOF
	}
	window := r.data[:min(len(r.data), len(p))] // a line may be very long
	end := bytes.IndexByte(window, '\n') + 1
	if end > 0 || len(window) == len(r.data) {
		r.lines++
	}
	if end == 0 {
		end = len(window)
	}
	n := copy(p, window[:end])
	r.data = r.data[n:]
	return n, nil
}
