package diag

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"
)

func ExampleWriteJSON() {
	WriteJSON(os.Stdout, List{{
		Pos:     Pos{"two.yaml", 12, 9},
		End:     Pos{"two.yaml", 12, 15},
		Code:    "unknown-field",
		Message: `unknown field "memroy" in vhost`,
		Hint:    `did you mean "memory"?`,
		Related: []Related{{Pos{"two.yaml", 5, 20}, "merged in here"}},
	}})
	// Output:
	// {
	//   "version": 1,
	//   "diagnostics": [
	//     {
	//       "severity": "error",
	//       "code": "unknown-field",
	//       "message": "unknown field \"memroy\" in vhost",
	//       "hint": "did you mean \"memory\"?",
	//       "file": "two.yaml",
	//       "line": 12,
	//       "column": 9,
	//       "end": {
	//         "line": 12,
	//         "column": 15
	//       },
	//       "related": [
	//         {
	//           "file": "two.yaml",
	//           "line": 5,
	//           "column": 20,
	//           "message": "merged in here"
	//         }
	//       ]
	//     }
	//   ]
	// }
}

func jsonText(t *testing.T, l List) string {
	t.Helper()
	var b strings.Builder
	if err := WriteJSON(&b, l); err != nil {
		t.Fatalf("WriteJSON = %v, want no error", err)
	}
	return b.String()
}

func compact(t *testing.T, l List) string {
	t.Helper()
	return strings.Join(strings.Fields(jsonText(t, l)), "")
}

func TestWriteJSONIsAnEmptyListWhenAllIsWell(t *testing.T) {
	for _, l := range []List{nil, {}} {
		if got, want := compact(t, l), `{"version":1,"diagnostics":[]}`; got != want {
			t.Errorf("WriteJSON(%#v) = %s, want %s", l, got, want)
		}
	}
}

func TestWriteJSONHasEveryKey(t *testing.T) {
	got := compact(t, List{{Pos: Pos{"a", 2, 3}, Severity: Warning, Code: "c", Message: "m"}, {Message: "n"}})
	want := `{"version":1,"diagnostics":[` +
		`{"severity":"error","code":"","message":"n","hint":"","file":"","line":0,"column":0,"end":{"line":0,"column":0},"related":[]},` +
		`{"severity":"warning","code":"c","message":"m","hint":"","file":"a","line":2,"column":3,"end":{"line":2,"column":3},"related":[]}]}`
	if got != want {
		t.Errorf("WriteJSON = %s, want %s", got, want)
	}
}

func TestWriteJSONHoldsMoreThanMaxLines(t *testing.T) {
	if got := strings.Count(jsonText(t, numbered(3*MaxLines, Error, "")), `"severity"`); got != 3*MaxLines {
		t.Errorf("WriteJSON has %d diagnostics, want %d", got, 3*MaxLines)
	}
}

func TestWriteJSONEscapesWhatIsNotVisible(t *testing.T) {
	got := jsonText(t, List{{Message: "<\x1b\x7f\u009b\u202e\U000e0041&größe"}})
	want := `"message": "<\u001b\u007f\u009b\u202e\udb40\udc41&größe"`
	if !strings.Contains(got, want) {
		t.Errorf("WriteJSON = %s, want it to hold %s", got, want)
	}
}

// checkJSON reads back what WriteJSON writes.
func checkJSON(t *testing.T, l List) {
	t.Helper()
	encoded := jsonText(t, l)
	for line := range strings.Lines(encoded) {
		requireVisible(t, strings.TrimSuffix(line, "\n"))
	}
	var got jsonReport
	if err := json.Unmarshal([]byte(encoded), &got); err != nil {
		t.Fatalf("%s: %v", encoded, err)
	}
	want := jsonReport{Version: JSONVersion}
	for _, d := range l.Sorted() {
		j := jsonOf(d)
		for _, s := range []*string{&j.Message, &j.Hint, &j.File} {
			*s = replaceInvalid(*s)
		}
		for i := range j.Related {
			j.Related[i].File = replaceInvalid(j.Related[i].File)
			j.Related[i].Message = replaceInvalid(j.Related[i].Message)
		}
		want.Diagnostics = append(want.Diagnostics, j)
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("read back %+v, want %+v", got, want)
	}
}

// replaceInvalid puts U+FFFD for each byte that is not UTF-8.
func replaceInvalid(s string) string {
	return string([]rune(s))
}
