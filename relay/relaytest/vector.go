package relaytest

import (
	"fmt"
	"slices"

	"github.com/cosim-go/cosim/relay/frame"
)

// A VectorReport is what came of the vectors of one file.
type VectorReport struct {
	Sections []VectorSection // in the order of the file
	Failures []string        // a line each, such as: frames.json: valid: chunk_plain: field seq = 3, want 4
}

// A VectorSection counts the cases of a section.
type VectorSection struct {
	Name        string // such as valid
	Run, Passed int
}

// OK reports whether all of it passed.
func (r *VectorReport) OK() bool { return len(r.Failures) == 0 }

// CheckVectors runs the vectors of a file, which is JSON, against the codec, the reader, the
// checksums, the reorder buffer and the URNs of this module. What a file holds is told by its
// sections:
//
//   - valid, provisional, invalid: frame bodies with their fields or class of error
//   - streams: bytes of a connection with what a reader makes of them
//   - cases: payloads with their checksums
//   - scripts: frames for a reorder buffer with what it lets go
//   - parse: texts with the cap or media URN that they are, or the kind of error
//   - dispatch: whether a cap may serve a request
//   - media_conforms, cap_equivalent: what media URNs and caps have to do with each other
//   - ranking: which caps of a table can serve a request, the best first, and the chosen one
//
// Everything that a vector states is checked. What CheckVectors does not know, be it a
// section, a key, a field, a class of errors, an outcome or an operation, is a failure, and so
// is a file or section without cases. The keys about, note, why, and those that begin with
// reference_ have no meaning.
//
// The name stands before each failure. CheckVectors returns an error for data that is no JSON,
// or in which a name of an object occurs twice.
func CheckVectors(name string, data []byte) (*VectorReport, error) {
	value, err := parseJSON(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	r := &vectorRun{file: name}
	file, ok := value.(*jsonObject)
	if !ok {
		r.fail("no object with sections")
		return &r.report, nil
	}
	for _, section := range file.names {
		r.section(section, file.values[section])
	}
	if len(r.report.Sections) == 0 && r.report.OK() {
		r.fail("no cases")
	}
	return &r.report, nil
}

// vectorSections says how a case of each section is checked, given all of the section.
var vectorSections = map[string]func(c *vectorCase, section []any){
	"valid":       checkValid,
	"provisional": checkProvisional,
	"invalid":     checkInvalid,
	"streams":     checkStream,
	"cases":       checkChecksum,
	"scripts":     checkScript,

	"parse":          checkURN,
	"dispatch":       checkDispatch,
	"media_conforms": checkConforms,
	"cap_equivalent": checkEquivalent,
	"ranking":        checkRanking,
}

// A vectorRun is the run of one file.
type vectorRun struct {
	file   string
	report VectorReport
}

func (r *vectorRun) fail(format string, args ...any) {
	r.report.Failures = append(r.report.Failures, r.file+": "+fmt.Sprintf(format, args...))
}

func (r *vectorRun) section(name string, value any) {
	check, known := vectorSections[name]
	switch {
	case hasNoMeaning(name):
	case name == "protocol_version":
		if n, ok := jsonUint(value); !ok || n != frame.Version {
			r.fail("protocol_version = %d, want %s", frame.Version, jsonText(value))
		}
	case !known:
		r.fail("unknown section %q", name)
	default:
		r.cases(name, value, check)
	}
}

func (r *vectorRun) cases(name string, value any, check func(*vectorCase, []any)) {
	list, ok := value.([]any)
	if !ok || len(list) == 0 {
		r.fail("%s: no cases", name)
		return
	}
	section := VectorSection{Name: name}
	for i, v := range list {
		c := &vectorCase{name: fmt.Sprintf("case %d", i)}
		if o, ok := v.(*jsonObject); ok {
			c.open(o)
			check(c, list)
		} else {
			c.fail("no object")
		}
		section.Run++
		if len(c.failures) == 0 {
			section.Passed++
		}
		for _, failure := range c.failures {
			r.fail("%s: %s: %s", name, c.name, failure)
		}
	}
	r.report.Sections = append(r.report.Sections, section)
}

// A vectorCase is one case, or a step of one. Its methods take what it states and note a
// failure where that is missing or of another kind.
type vectorCase struct {
	*jsonObject
	name     string
	failures []string
}

func (c *vectorCase) open(o *jsonObject) {
	c.jsonObject = o
	if name, ok := o.values["name"].(string); ok {
		c.name = name
	}
}

func (c *vectorCase) fail(format string, args ...any) {
	c.failures = append(c.failures, fmt.Sprintf(format, args...))
}

// knows notes a failure for each key that is none of these.
func (c *vectorCase) knows(keys ...string) {
	for _, name := range c.names {
		if !slices.Contains(keys, name) && !hasNoMeaning(name) {
			c.fail("unknown key %q", name)
		}
	}
}

// want notes a failure unless a key is there, and returns whether that is so.
func (c *vectorCase) want(key, kind string, good bool) bool {
	switch {
	case good:
	case c.has(key):
		c.fail("%s is no %s: %s", key, kind, jsonText(c.values[key]))
	default:
		c.fail("no key %q", key)
	}
	return good
}

func (c *vectorCase) text(key string) string {
	s, ok := c.values[key].(string)
	c.want(key, "text", ok)
	return s
}

func (c *vectorCase) hex(key string) []byte {
	b, ok := jsonHex(c.values[key])
	c.want(key, "hex text", ok)
	return b
}

func (c *vectorCase) flag(key string) bool {
	b, ok := c.values[key].(bool)
	c.want(key, "truth value", ok)
	return b
}

func (c *vectorCase) number(key string) uint64 {
	n, ok := jsonUint(c.values[key])
	c.want(key, "unsigned number of 64 bits", ok)
	return n
}

func (c *vectorCase) list(key string) []any {
	l, ok := c.values[key].([]any)
	c.want(key, "list", ok)
	return l
}
