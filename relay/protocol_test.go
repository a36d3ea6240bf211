package relay_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
)

// PROTOCOL.md says what the code does, as far as its tables have names and numbers.
func TestProtocolPage(t *testing.T) {
	data, err := os.ReadFile("PROTOCOL.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	for n := range 256 {
		kind := frame.Type(n)
		row := rowOf(page, fmt.Sprintf("| %d | `%v` |", n, kind))
		if kind.Valid() != (row != "") {
			t.Errorf("type %d, %v: valid %v, its row is %q", n, kind, kind.Valid(), row)
			continue
		}
		if kind.Valid() && (kind.Flow() != strings.Contains(row, "| yes") || kind.Terminal() != strings.Contains(row, "yes, ends it")) {
			t.Errorf("%v: Flow %v, Terminal %v, its row is %q", kind, kind.Flow(), kind.Terminal(), row)
		}
	}
	for name, value := range map[string]int{
		"`max_frame`": frame.DefaultMaxFrame, "in any case": frame.HardMaxFrame, "`max_chunk`": frame.DefaultMaxChunk,
		"`max_reorder_buffer`": frame.DefaultMaxHeld, "`initial_credit`": frame.DefaultCredit, "levels of nesting in a body": frame.MaxNesting,
	} {
		if want := "| " + grouped(value) + " |"; !regexp.MustCompile(`(?m)^\|[^|]*` + regexp.QuoteMeta(name) + `[^|]*` + regexp.QuoteMeta(want) + `$`).MatchString(page) {
			t.Errorf("no row of %s ends in %s", name, want)
		}
	}
	for _, kind := range []frame.Kind{
		frame.ErrIO, frame.ErrEncode, frame.ErrDecode, frame.ErrInvalidFrame, frame.ErrFrameTooLarge, frame.ErrUnexpectedEOF, frame.ErrProtocol, frame.ErrHandshake,
	} {
		if !strings.Contains(page, "`"+string(kind)+"`") {
			t.Errorf("the error kind %s is not on the page", kind)
		}
	}
	for payload, text := range map[string]string{"": "| |", "a": "| `61` |", "foobar": "| `666f6f626172` |"} {
		if want := fmt.Sprintf("%s %d |", text, flow.Checksum([]byte(payload))); rowOf(page, want) == "" {
			t.Errorf("no row %s", want)
		}
	}
	for _, link := range regexp.MustCompile(`\]\(#([^)]*)\)`).FindAllStringSubmatch(page, -1) {
		heading := strings.ReplaceAll(link[1], "-", " ")
		if !regexp.MustCompile(`(?mi)^#+ ` + regexp.QuoteMeta(heading) + `$`).MatchString(page) {
			t.Errorf("a link leads to #%s, where there is no heading", link[1])
		}
	}
}

// rowOf returns the line that begins with a text.
func rowOf(page, begin string) string {
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, begin) {
			return line
		}
	}
	return ""
}

// grouped writes a number with a space between thousands.
func grouped(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + " " + text[i:]
	}
	return text
}
