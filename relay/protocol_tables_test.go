package relay_test

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/cosim-go/cosim/relay/caps"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/stats"
)

func protocolPage(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("PROTOCOL.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// cellsBelow returns the cells of the table whose head begins with a text, row by row.
func cellsBelow(t *testing.T, page, head string) (rows [][]string) {
	t.Helper()
	_, table, found := strings.Cut(page, "\n"+head)
	if !found {
		t.Fatalf("no table %s", head)
	}
	for _, line := range strings.Split(table, "\n")[2:] {
		if !strings.HasPrefix(line, "|") {
			return rows
		}
		var cells []string
		for cell := range strings.SplitSeq(strings.Trim(line, "|"), "|") {
			cells = append(cells, strings.TrimSpace(cell))
		}
		rows = append(rows, cells)
	}
	return rows
}

var quoted = regexp.MustCompile("`([^`]*)`")

// texts returns what stands between back-quotes.
func texts(cell string) (all []string) {
	for _, found := range quoted.FindAllStringSubmatch(cell, -1) {
		all = append(all, found[1])
	}
	return all
}

func mediaURN(t *testing.T, tag string) caps.Media {
	t.Helper()
	m, err := caps.ParseMedia("media:" + strings.TrimPrefix(tag, "—"))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestProtocolPageTellsTheFormsOfATag(t *testing.T) {
	rows := cellsBelow(t, protocolPage(t), "| tag | also written |")
	if len(rows) != 6 {
		t.Fatalf("%d forms, want 6", len(rows))
	}
	for n, row := range rows {
		canonical := texts(row[0])[0]
		for _, text := range append(texts(row[1]), canonical) {
			m := mediaURN(t, text)
			if got := strings.TrimPrefix(m.String(), "media:"); got != canonical || m.Specificity() != n {
				t.Errorf("%s is %s of specificity %d, want %s and %d", text, got, m.Specificity(), canonical, n)
			}
		}
		if want := string(rune('0' + n)); row[3] != want {
			t.Errorf("the specificity of %s is %s, want %s", canonical, row[3], want)
		}
	}
}

func TestProtocolPageTellsWhatConforms(t *testing.T) {
	patterns := []string{"—", "!x", "x", "x!=v", "x?=v", "x=v"}
	rows := cellsBelow(t, protocolPage(t), "| instance | `—`, `?x` | `!x` | `x` | `x!=v` | `x?=v` | `x=v` |")
	if len(rows) != 10 {
		t.Fatalf("%d instances, want 10", len(rows))
	}
	for _, row := range rows {
		instance := texts(row[0])[0]
		for i, pattern := range patterns {
			if got := mediaURN(t, instance).Conforms(mediaURN(t, pattern)); got != (row[i+1] == "yes") {
				t.Errorf("%s conforms to %s: %v, the table says %s", instance, pattern, got, row[i+1])
			}
		}
	}
}

// membersOf returns the names of all that a type has in JSON.
func membersOf(t reflect.Type, into map[string]bool) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		membersOf(t.Elem(), into)
	case reflect.Struct:
		for i := range t.NumField() {
			if name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ","); name != "" {
				into[name] = true
				membersOf(t.Field(i).Type, into)
			}
		}
	}
}

func TestProtocolPageNamesTheStatistics(t *testing.T) {
	page := protocolPage(t)
	said := map[string]bool{}
	for _, row := range cellsBelow(t, page, "| object | members |") {
		for _, name := range texts(row[1]) {
			said[name] = true
		}
	}
	// Values among the names.
	for _, value := range []string{
		string(stats.PhaseCreated), string(stats.PhaseStreaming),
		string(stats.KindEnd), string(stats.KindErr), string(stats.KindCancelled), string(stats.KindMasterDied),
	} {
		if !said[value] {
			t.Errorf("the value %s is not said", value)
		}
		delete(said, value)
	}
	there := map[string]bool{}
	membersOf(reflect.TypeFor[stats.Switch](), there)
	if !reflect.DeepEqual(said, there) {
		t.Errorf("members = %v, the page has %v", there, said)
	}

	var reasons stats.Counters
	rows := cellsBelow(t, page, "| reason | the frame |")
	for _, row := range rows {
		reasons.Drop(stats.Reason(texts(row[0])[0]), frame.TypeEnd) // panics when it is none
	}
	if got := len(reasons.Drops().ByReason); got != 5 || got != len(rows) {
		t.Errorf("%d reasons in %d rows, want 5", got, len(rows))
	}
}
