package supervise

import "regexp"

// verdictLines is how many lines that matched are kept for each vhost.
const verdictLines = 32

// A verdict matches the lines of a vhost's log against what is expected of them. A nil
// expression matches nothing.
type verdict struct {
	pass, fail     *regexp.Regexp
	passed, failed func(line string) // called with the first lines that match; failed once

	passes    int
	hasFailed bool
}

// see looks at one line. A line that matches both expressions is a failure.
func (v *verdict) see(line []byte) {
	switch {
	case v.fail != nil && !v.hasFailed && v.fail.Match(line):
		v.hasFailed = true
		v.failed(shown(string(line)))
	case v.pass != nil && v.passes < verdictLines && v.pass.Match(line):
		v.passes++
		v.passed(shown(string(line)))
	}
}
