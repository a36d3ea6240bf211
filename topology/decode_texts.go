package topology

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/cosim-go/cosim/topology/diag"
	"github.com/cosim-go/cosim/topology/internal/decode"
	"github.com/cosim-go/cosim/topology/internal/source"
	"github.com/cosim-go/cosim/topology/placeholder"
	"github.com/cosim-go/cosim/topology/schema"
)

// A scope reads the texts of a kind, and knows which placeholders have a value in them.
type scope struct {
	*decoder
	kind    *kindEntry
	regions map[string]bool
	names   []string        // of placeholders, once they are needed
	unsure  map[string]bool // the fields of the kind that could not be read, and with them the placeholders they make
}

// sure notes whether a field could be read.
func (s *scope) sure(field string, ok bool) bool {
	s.unsure[field] = !ok
	return ok
}

// texts reads all fields of a kind that may hold placeholders. What the placeholders
// refer to has been read before.
func (s *scope) texts(r *decode.Record) bool {
	t := s.kind.Template
	s.regions = make(map[string]bool, len(t.Regions))
	for _, region := range t.Regions {
		s.regions[region.Name] = true
	}
	return all(
		field(s.decoder, r, "args", &t.Args, s.arguments(inArgs)),
		field(s.decoder, r, "env", &t.Env, s.variables),
		field(s.decoder, r, "attach", &t.Attach, s.attach),
		s.ready(r),
	)
}

// A position is where in a kind a text stands.
type position uint8

const (
	inArgs   position = iota // an argument of the kind's own command
	inAttach                 // an argument of the vhost
	inExec                   // an argument of the readiness command
	inText                   // no argument at all
)

func (s *scope) arguments(at position) func(source.Value) ([]placeholder.Text, bool) {
	return func(v source.Value) ([]placeholder.Text, bool) {
		args, good := []placeholder.Text{}, true
		ok := s.Items(v, "texts", func(_ int, item source.Value) {
			arg, ok := s.text(item, at)
			args, good = append(args, arg), good && ok
		})
		return args, ok && good
	}
}

func (s *scope) variables(v source.Value) ([]TextVar, bool) {
	vars, good := []TextVar{}, true
	ok := s.Fields(v, "mapping", func(e source.Entry) {
		value, ok := s.text(e.Value, inText)
		good = all(good, ok, s.envName(e))
		vars = append(vars, TextVar{e.Name, value})
	})
	slices.SortFunc(vars, func(a, b TextVar) int { return cmp.Compare(a.Name, b.Name) })
	return vars, ok && good
}

func (s *scope) attach(v source.Value) (Attach, bool) {
	if v.IsScalar() && v.Text() == schema.AttachShort {
		return Attach{VFIOUser: true}, true
	}
	if v.IsScalar() {
		s.Report(v, decode.Problem{
			Code:    schema.UnknownValue,
			Message: fmt.Sprintf("attach must be a sequence of arguments or %q", schema.AttachShort),
		})
		return Attach{}, false
	}
	args, ok := s.arguments(inAttach)(v)
	return Attach{Args: args}, ok
}

// ready reads when the process is ready. A device that speaks vfio-user is when its
// socket is there, where nothing else is said.
func (s *scope) ready(r *decode.Record) bool {
	t := s.kind.Template
	if !r.Has("ready") && t.Attach.VFIOUser {
		t.Ready.Socket = placeholder.MustParse("{{socket}}")
	}
	return field(s.decoder, r, "ready", &t.Ready, func(v source.Value) (Ready, bool) {
		if v.IsScalar() && v.Class() == source.Str && v.Text() == schema.ReadyNone {
			return Ready{}, true
		}
		if v.IsScalar() {
			s.Report(v, decode.Problem{
				Code: schema.UnknownValue, Message: fmt.Sprintf("ready must be a mapping or %q", schema.ReadyNone),
				Hint: "fields: " + strings.Join(schema.Ready.Names(), ", "),
			})
			return Ready{}, false
		}
		var ready Ready
		in, ok := s.Section(v, schema.Ready)
		defer s.Done(in)
		return ready, all(ok,
			field(s.decoder, in, "socket", &ready.Socket, s.filled),
			field(s.decoder, in, "file", &ready.File, s.filled),
			field(s.decoder, in, "log", &ready.Log, s.expression),
			field(s.decoder, in, "exec", &ready.Exec, s.arguments(inExec)),
		)
	})
}

func (s *scope) filled(v source.Value) (placeholder.Text, bool) {
	text, ok := s.text(v, inText)
	if ok && text.String() == "" {
		s.Report(v, decode.Problem{Code: schema.BadPath, Message: "path is empty"})
		return text, false
	}
	return text, ok
}

// expression reads a regular expression with placeholders, whose values are quoted when
// they are put in.
func (s *scope) expression(v source.Value) (placeholder.Text, bool) {
	text, ok := s.text(v, inText)
	if !ok {
		return text, false
	}
	filled, err := text.Expand(func(string) (string, bool) { return "x", true })
	if err == nil {
		_, err = regexp.Compile(filled)
	}
	if err != nil {
		s.Report(v, decode.Problem{Code: schema.BadRegexp, Message: fmt.Sprintf("log: %v", err), Err: err})
		return text, false
	}
	return text, true
}

func (s *scope) text(v source.Value, at position) (placeholder.Text, bool) {
	written, ok := s.Text(v)
	if !ok {
		return placeholder.Text{}, false
	}
	text, err := placeholder.Parse(written)
	if err != nil {
		pos, reason := v.Pos(), err.Error()
		var bad *placeholder.Error
		if errors.As(err, &bad) {
			pos, reason = v.PosIn(bad.Offset), bad.Reason
		}
		s.ReportAt(v, pos, decode.Problem{Code: schema.BadPlaceholder, Message: reason})
		return text, false
	}
	for _, name := range text.Names() {
		_, sole := text.Sole()
		if p, bad := s.check(name.Name, at, sole); bad {
			ok = false
			s.ReportAt(v, v.PosIn(name.Offset), p)
		}
	}
	return text, ok
}

// envName checks the key of an environment variable.
func (d *decoder) envName(e source.Entry) bool {
	message := ""
	switch {
	case e.Name == "":
		message = "the name of a variable is empty"
	case strings.ContainsAny(e.Name, "=\x00"):
		message = fmt.Sprintf("the name of a variable cannot be %q", e.Name)
	default:
		return true
	}
	d.Report(e.Key(), decode.Problem{Code: schema.BadEnvName, Message: message})
	return false
}

// kindRelated points at the definition of a kind, where it has a place.
func kindRelated(k *Kind) []diag.Related {
	if k.Pos.IsZero() {
		return nil
	}
	return []diag.Related{{Pos: k.Pos, Message: fmt.Sprintf("kind %q is defined here", k.Name)}}
}
