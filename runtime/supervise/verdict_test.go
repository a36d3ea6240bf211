package supervise

import (
	"fmt"
	"regexp"
	"slices"
	"testing"
)

// Requirement: X5. A line that says both is a failure: of a guest that prints its whole
// table in one line, one bad entry is enough.
func TestALineThatMatchesBothIsAFailure(t *testing.T) {
	var got []string
	v := &verdict{
		pass: regexp.MustCompile("PASS"), fail: regexp.MustCompile("FAIL"),
		passed: func(line string) { got = append(got, "passed "+line) },
		failed: func(line string) { got = append(got, "failed "+line) },
	}
	for _, line := range []string{"PASS a", "nothing", "PASS b FAIL c", "FAIL d", "PASS e"} {
		v.see([]byte(line))
	}
	if want := []string{"passed PASS a", "failed PASS b FAIL c", "passed PASS e"}; !slices.Equal(got, want) {
		t.Errorf("verdict = %q, want %q", got, want)
	}
}

// A guest that says the same for hours does not fill the summary.
func TestAVerdictKeepsTheFirstLines(t *testing.T) {
	n := 0
	v := &verdict{pass: regexp.MustCompile("PASS"), passed: func(string) { n++ }}
	for i := range 2 * verdictLines {
		v.see(fmt.Appendf(nil, "PASS %d", i))
	}
	if n != verdictLines {
		t.Errorf("%d lines were kept, want %d", n, verdictLines)
	}
}
