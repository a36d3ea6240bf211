package diag

import (
	"encoding/json"
	"io"
	"strings"
)

// JSONVersion is the version of the form that [WriteJSON] writes.
const JSONVersion = 1

// The form of WriteJSON. Every key is always present.
type (
	jsonReport struct {
		Version     int              `json:"version"`
		Diagnostics []jsonDiagnostic `json:"diagnostics"`
	}
	jsonDiagnostic struct {
		Severity string        `json:"severity"`
		Code     string        `json:"code"`
		Message  string        `json:"message"`
		Hint     string        `json:"hint"`
		File     string        `json:"file"`
		Line     int           `json:"line"`
		Column   int           `json:"column"`
		End      jsonPoint     `json:"end"`
		Related  []jsonRelated `json:"related"`
	}
	jsonPoint struct {
		Line   int `json:"line"`
		Column int `json:"column"`
	}
	jsonRelated struct {
		File    string `json:"file"`
		Line    int    `json:"line"`
		Column  int    `json:"column"`
		Message string `json:"message"`
	}
)

// WriteJSON writes the whole list for machines, sorted by position: an object with
// "version" and "diagnostics", which is [] when all is well. Each diagnostic has
// all of "severity" ("error" or "warning"), "code", "message", "hint", "file", "line",
// "column", "end" ("line" and "column" behind the last character; equal to the start
// where no end is known) and "related" (each with "file", "line", "column" and
// "message").
// A hint that there is not is "", a line and column that are not known are 0. Texts
// are as they are in the diagnostic, with \u for characters that are not visible; bytes
// that are not UTF-8 become U+FFFD.
//
// All is written at once. The error is the writer's.
func WriteJSON(w io.Writer, l List) error {
	report := jsonReport{Version: JSONVersion, Diagnostics: []jsonDiagnostic{}}
	for _, d := range l.Sorted() {
		report.Diagnostics = append(report.Diagnostics, jsonOf(d))
	}
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(report); err != nil {
		panic("diag: " + err.Error()) // numbers and strings always encode
	}
	_, err := io.WriteString(w, escapeJSON(b.String()))
	return err
}

func jsonOf(d Diagnostic) jsonDiagnostic {
	end := d.End
	if end.Line == 0 {
		end = d.Pos
	}
	related := []jsonRelated{}
	for _, r := range d.Related {
		related = append(related, jsonRelated{r.Pos.File, r.Pos.Line, r.Pos.Column, r.Message})
	}
	return jsonDiagnostic{
		Severity: d.Severity.String(),
		Code:     d.Code,
		Message:  d.Message,
		Hint:     d.Hint,
		File:     d.Pos.File,
		Line:     d.Pos.Line,
		Column:   d.Pos.Column,
		End:      jsonPoint{end.Line, end.Column},
		Related:  related,
	}
}
