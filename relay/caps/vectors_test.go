package caps_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/cosim-go/cosim/relay/caps"
)

// vectors is the file of golden URNs.
type vectors struct {
	About         string
	Parse         []parseVector
	Dispatch      []dispatchVector
	MediaConforms []conformVector    `json:"media_conforms"`
	CapEquivalent []equivalentVector `json:"cap_equivalent"`
	Ranking       []rankingVector
}

type parseVector struct {
	Kind, Input     string
	Canonical       *string
	Specificity     *int
	In, Out, Effect *string
	Error           *caps.Kind
}

type dispatchVector struct {
	Provider, Request string
	Dispatchable      bool
}

type conformVector struct {
	Instance, Pattern string
	Conforms          bool
}

type equivalentVector struct {
	A, B       string
	Equivalent bool
}

type rankingVector struct {
	Name, Request, Preferred string
	Candidates               []string
	Order, Distances         []int
	Chosen                   *int
}

func loadVectors(t testing.TB) (v vectors) {
	t.Helper()
	file, err := os.Open("testdata/urns.json")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	d := json.NewDecoder(file)
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// A vector is a case of any section.
type vector interface {
	check() []string // one line for each thing that is not as stated
}

func (v *vectors) sections() map[string][]vector {
	return map[string][]vector{
		"parse":          asVectors(v.Parse),
		"dispatch":       asVectors(v.Dispatch),
		"media_conforms": asVectors(v.MediaConforms),
		"cap_equivalent": asVectors(v.CapEquivalent),
		"ranking":        asVectors(v.Ranking),
	}
}

func asVectors[V any, P interface {
	*V
	vector
}](cases []V) []vector {
	all := make([]vector, len(cases))
	for i := range cases {
		all[i] = P(&cases[i])
	}
	return all
}

func TestVectors(t *testing.T) {
	v := loadVectors(t)
	for name, cases := range v.sections() {
		t.Run(name, func(t *testing.T) {
			if len(cases) == 0 {
				t.Error("no cases")
			}
			for i, c := range cases {
				for _, failure := range c.check() {
					t.Errorf("case %d: %s", i, failure)
				}
			}
		})
	}
}

// failures collects what is not as it should be.
type failures []string

func (f *failures) add(format string, args ...any) { *f = append(*f, fmt.Sprintf(format, args...)) }

// stated compares a value with what a vector states of it, if it does.
func stated[V comparable](f *failures, what string, got V, want *V) {
	if want != nil && got != *want {
		f.add("%s = %v, want %v", what, got, *want)
	}
}

func (v *parseVector) check() []string {
	var f failures
	switch v.Kind {
	case "cap":
		c, err := caps.Parse(v.Input)
		if !v.outcome(&f, err) {
			return f
		}
		stated(&f, "canonical", c.String(), v.Canonical)
		stated(&f, "specificity", c.Specificity(), v.Specificity)
		stated(&f, "in", c.In().String(), v.In)
		stated(&f, "out", c.Out().String(), v.Out)
		stated(&f, "effect", c.Effect().String(), v.Effect)
		if v.In == nil || v.Out == nil || v.Effect == nil {
			f.add("Parse(%q) states not everything", v.Input)
		}
	case "media":
		m, err := caps.ParseMedia(v.Input)
		if !v.outcome(&f, err) {
			return f
		}
		stated(&f, "canonical", m.String(), v.Canonical)
		stated(&f, "specificity", m.Specificity(), v.Specificity)
		if v.In != nil || v.Out != nil || v.Effect != nil {
			f.add("ParseMedia(%q) states what a media URN has not", v.Input)
		}
	default:
		f.add("kind is %q", v.Kind)
	}
	return f
}

// outcome compares the error, and reports whether there is none and should be none.
func (v *parseVector) outcome(f *failures, err error) bool {
	if (v.Error == nil) != (v.Canonical != nil) || (v.Error == nil) != (v.Specificity != nil) {
		f.add("%q states both an error and a result, or neither", v.Input)
	}
	switch {
	case v.Error == nil && err == nil:
		return true
	case v.Error == nil:
		f.add("reading %q fails: %v", v.Input, err)
	case err == nil:
		f.add("reading %q succeeds, want %s", v.Input, *v.Error)
	case caps.KindOf(err) != *v.Error:
		f.add("reading %q fails with %s (%v), want %s", v.Input, caps.KindOf(err), err, *v.Error)
	}
	return false
}

func (v *dispatchVector) check() (f []string) {
	provider, request := parse(v.Provider), parse(v.Request)
	if got := caps.Dispatchable(provider, request); got != v.Dispatchable {
		f = append(f, fmt.Sprintf("Dispatchable(%q, %q) = %v, want %v", v.Provider, v.Request, got, v.Dispatchable))
	}
	if _, got := caps.NewIndex([]*caps.Cap{provider}).Find(v.Request, ""); got != v.Dispatchable {
		f = append(f, fmt.Sprintf("an index of %q finds %q: %v, want %v", v.Provider, v.Request, got, v.Dispatchable))
	}
	return f
}

func (v *conformVector) check() (f []string) {
	instance, pattern := parseMedia(v.Instance), parseMedia(v.Pattern)
	there, err := instance.URN().Conforms(pattern.URN())
	back, errBack := pattern.URN().Accepts(instance.URN())
	for _, got := range []bool{instance.Conforms(pattern), pattern.Accepts(instance), there, back} {
		if got != v.Conforms || err != nil || errBack != nil {
			f = append(f, fmt.Sprintf("%q conforms to %q: %v (%v, %v), want %v", v.Instance, v.Pattern, got, err, errBack, v.Conforms))
		}
	}
	return f
}

func (v *equivalentVector) check() (f []string) {
	a, b := parse(v.A), parse(v.B)
	for _, got := range []bool{a.Equivalent(b), b.Equivalent(a), a.Accepts(b) && b.Accepts(a)} {
		if got != v.Equivalent {
			f = append(f, fmt.Sprintf("%q and %q are equivalent: %v, want %v", v.A, v.B, got, v.Equivalent))
		}
	}
	return f
}

func (v *rankingVector) check() (f []string) {
	var table []*caps.Cap
	for _, text := range v.Candidates {
		table = append(table, parse(text))
	}
	var order, distances []int
	for _, r := range caps.Rank(parse(v.Request), table) {
		order, distances = append(order, r.Place), append(distances, r.Distance)
	}
	if !slices.Equal(order, v.Order) || !slices.Equal(distances, v.Distances) {
		f = append(f, fmt.Sprintf("%s: Rank = %v at %v, want %v at %v", v.Name, order, distances, v.Order, v.Distances))
	}
	place, found := caps.NewIndex(table).Find(v.Request, v.Preferred)
	if found != (v.Chosen != nil) || found && place != *v.Chosen {
		f = append(f, fmt.Sprintf("%s: Find = %d, %v, want %v", v.Name, place, found, v.Chosen))
	}
	return f
}

// TestVectorsThatAreWrongFail shows that everything that a vector states is looked at.
func TestVectorsThatAreWrongFail(t *testing.T) {
	alter := func(text *string) *string { s := *text + "x"; return &s }
	one := 1 << 20
	kind := caps.Kind("other")
	for name, wrong := range map[string]func(v *vectors) vector{
		"canonical":            func(v *vectors) vector { v.Parse[0].Canonical = alter(v.Parse[0].Canonical); return &v.Parse[0] },
		"specificity":          func(v *vectors) vector { v.Parse[0].Specificity = &one; return &v.Parse[0] },
		"in":                   func(v *vectors) vector { v.Parse[0].In = alter(v.Parse[0].In); return &v.Parse[0] },
		"out":                  func(v *vectors) vector { v.Parse[0].Out = alter(v.Parse[0].Out); return &v.Parse[0] },
		"effect":               func(v *vectors) vector { v.Parse[0].Effect = alter(v.Parse[0].Effect); return &v.Parse[0] },
		"error for result":     func(v *vectors) vector { v.Parse[0].Error = &kind; return &v.Parse[0] },
		"another error":        func(v *vectors) vector { c := v.firstError(); c.Error = &kind; return c },
		"media canonical":      func(v *vectors) vector { c := v.firstMedia(); c.Canonical = alter(c.Canonical); return c },
		"media specificity":    func(v *vectors) vector { c := v.firstMedia(); c.Specificity = &one; return c },
		"dispatchable":         func(v *vectors) vector { v.Dispatch[0].Dispatchable = false; return &v.Dispatch[0] },
		"conforms":             func(v *vectors) vector { v.MediaConforms[0].Conforms = false; return &v.MediaConforms[0] },
		"equivalent":           func(v *vectors) vector { v.CapEquivalent[0].Equivalent = false; return &v.CapEquivalent[0] },
		"order":                func(v *vectors) vector { slices.Reverse(v.Ranking[0].Order); return &v.Ranking[0] },
		"distances":            func(v *vectors) vector { v.Ranking[0].Distances[0]++; return &v.Ranking[0] },
		"chosen":               func(v *vectors) vector { v.Ranking[0].Chosen = &one; return &v.Ranking[0] },
		"none chosen":          func(v *vectors) vector { v.Ranking[0].Chosen = nil; return &v.Ranking[0] },
		"without specificity":  func(v *vectors) vector { v.Parse[0].Specificity = nil; return &v.Parse[0] },
		"without in of a cap":  func(v *vectors) vector { v.Parse[0].In = nil; return &v.Parse[0] },
		"media URN with an in": func(v *vectors) vector { c := v.firstMedia(); c.In = c.Canonical; return c },
		"kind":                 func(v *vectors) vector { v.Parse[0].Kind = "other"; return &v.Parse[0] },
	} {
		v := loadVectors(t)
		if c := wrong(&v); len(c.check()) == 0 {
			t.Errorf("a vector with another %s passes", name)
		}
	}
}

func (v *vectors) firstError() *parseVector {
	return &v.Parse[slices.IndexFunc(v.Parse, func(c parseVector) bool { return c.Error != nil })]
}

func (v *vectors) firstMedia() *parseVector {
	return &v.Parse[slices.IndexFunc(v.Parse, func(c parseVector) bool { return c.Kind == "media" && c.Error == nil })]
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
