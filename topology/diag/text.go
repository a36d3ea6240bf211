package diag

import (
	"fmt"
	"io"
	"strings"
)

// MaxLines is the number of lines that [WriteText] writes at most, the last line with
// its count not included.
const MaxLines = 200

// WriteText writes the list for people and editors, sorted by position:
//
//	two.yaml:12:9: unknown field "memroy" in vhost
//		hint: did you mean "memory"?
//	two.yaml:15:5: warning: template "old" is used by nobody
//
// The hint and the related places follow their message on lines of their own, each
// behind a tab. Characters that a terminal would obey instead of show are escaped,
// so one finding is never more lines than these. Of a text that is very long the middle is
// left out. After [MaxLines] lines a last one
// counts the findings that are left; no finding is cut in two, except that related
// places are counted where a single finding has more of them than that.
//
// All is written at once. The error is the writer's.
func WriteText(w io.Writer, l List) error {
	var lines []string
	sorted := l.Sorted()
	for i, d := range sorted {
		next := textLines(d)
		if len(lines) == 0 {
			next = cutRelated(next)
		}
		if len(lines)+len(next) > MaxLines {
			lines = append(lines, "... and "+countOf(sorted[i:]))
			break
		}
		lines = append(lines, next...)
	}
	if len(lines) == 0 {
		return nil
	}
	_, err := io.WriteString(w, strings.Join(lines, "\n")+"\n")
	return err
}

func textLines(d Diagnostic) []string {
	message := d.Message
	if d.Severity == Warning {
		message = "warning: " + message
	}
	lines := []string{placed(d.Pos, message)}
	if d.Hint != "" {
		lines = append(lines, "\thint: "+shown(d.Hint))
	}
	for _, r := range d.Related {
		lines = append(lines, "\t"+placed(r.Pos, r.Message))
	}
	return lines
}

func placed(pos Pos, message string) string {
	message = shown(message)
	if pos.IsZero() {
		return message
	}
	return escape(pos.String()) + ": " + message
}

// maxShown is how many bytes of a text are shown; what a document holds may be of any
// length, and comes back in messages.
const maxShown = 2000

// shown is a text as a terminal can show it, its middle left out where it is very long.
func shown(text string) string {
	if len(text) > maxShown {
		head, tail := text[:maxShown*3/4], text[len(text)-maxShown/4:]
		text = strings.ToValidUTF8(head, "") + "…" + strings.ToValidUTF8(tail, "")
	}
	return escape(text)
}

func cutRelated(lines []string) []string {
	if len(lines) <= MaxLines {
		return lines
	}
	left := len(lines) - (MaxLines - 1)
	return append(lines[:MaxLines-1:MaxLines-1], fmt.Sprintf("\t... and %d more places", left))
}

func countOf(l List) string {
	var errors, warnings int
	for _, d := range l {
		if d.Severity == Warning {
			warnings++
		} else {
			errors++
		}
	}
	switch {
	case warnings == 0:
		return plural(errors, "more error")
	case errors == 0:
		return plural(warnings, "more warning")
	}
	return plural(errors, "more error") + " and " + plural(warnings, "warning")
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
