package caps_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/cosim-go/cosim/relay/caps"
	"github.com/cosim-go/cosim/relay/relaytest"
)

func readVectors(t testing.TB) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/urns.json")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestVectors(t *testing.T) {
	report, err := relaytest.CheckVectors("urns.json", readVectors(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, failure := range report.Failures {
		t.Error(failure)
	}
	passed := map[string]int{}
	for _, s := range report.Sections {
		passed[s.Name] = s.Passed
	}
	for _, section := range []string{"parse", "dispatch", "media_conforms", "cap_equivalent", "ranking"} {
		if passed[section] == 0 {
			t.Errorf("no case of section %s passed", section)
		}
	}
}

// vectorTexts returns the texts of the vectors, for a fuzzer to start from.
func vectorTexts(t testing.TB) (texts []string) {
	t.Helper()
	var file struct {
		Parse    []struct{ Input string }
		Dispatch []struct{ Provider string }
	}
	if err := json.Unmarshal(readVectors(t), &file); err != nil {
		t.Fatal(err)
	}
	for _, c := range file.Parse {
		texts = append(texts, c.Input)
	}
	for _, c := range file.Dispatch {
		texts = append(texts, c.Provider)
	}
	return texts
}

// parse returns the cap of a text that is one.
func parse(text string) *caps.Cap {
	c, err := caps.Parse(text)
	if err != nil {
		panic(fmt.Sprintf("%q: %v", text, err))
	}
	return c
}

func parseMedia(text string) caps.Media {
	m, err := caps.ParseMedia(text)
	if err != nil {
		panic(fmt.Sprintf("%q: %v", text, err))
	}
	return m
}

// parseAll returns the caps of texts with white space between them.
func parseAll(texts string) (all []*caps.Cap) {
	for text := range strings.FieldsSeq(texts) {
		all = append(all, parse(text))
	}
	return all
}
