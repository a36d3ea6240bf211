package manifest

import (
	"strconv"
	"unicode/utf8"

	"github.com/cosim-go/cosim/relay/frame"
)

// A Fault is why the manifest of a cartridge is refused.
type Fault struct {
	Kind    AttachmentKind // ManifestInvalid or Incompatible
	Message string
}

// Error says what is wrong with the manifest.
func (f *Fault) Error() string { return f.Message }

// A placed is an error about a place within a document.
type placed struct {
	path string // such as installed_cartridges[2].sha256
	err  error
}

func (p *placed) Error() string { return p.path + " " + p.err.Error() }
func (p *placed) Unwrap() error { return p.err }

// within puts a step in front of the path of an error: [2], or a name with a dot in front.
func within(step string, err error) error {
	if p, ok := err.(*placed); ok {
		p.path = step + p.path
		return p
	}
	return &placed{step, err}
}

func memberPath(name string) string {
	for i := range len(name) {
		c := name[i] | 0x20
		if name[i] != '_' && !isDigit(name[i]) && (c < 'a' || 'z' < c) {
			return "[" + quote(name) + "]"
		}
	}
	if name == "" || len(name) > maxQuoted {
		return "[" + quote(name) + "]"
	}
	return "." + name
}

const maxQuoted = 100 // bytes of what somebody else wrote that an error repeats

func abbreviate(text string) string {
	if len(text) <= maxQuoted {
		return text
	}
	n := maxQuoted
	for !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + "…"
}

func quote(text string) string { return strconv.Quote(abbreviate(text)) }

// describe says which document an error is about.
func describe(document string, err error) string {
	p, ok := err.(*placed)
	switch {
	case !ok:
		return document + " " + err.Error()
	case p.path[0] == '.':
		return document + ": " + p.path[1:] + " " + p.err.Error()
	}
	return document + p.Error()
}

// A described is an error with the text of describe.
type described struct {
	text string
	err  error
}

func (d *described) Error() string { return d.text }
func (d *described) Unwrap() error { return d.err }

// refused returns the error of a reader of a document; nil for nil.
func refused(document string, err error) error {
	if err == nil {
		return nil
	}
	return &frame.Error{Kind: frame.ErrProtocol, Offset: -1, Err: &described{describe(document, err), err}}
}
