package relaytest

import (
	"errors"

	"github.com/cosim-go/cosim/relay/caps"
)

// checkURN checks what comes of a text: the canonical text and what it says, or a kind of error.
func checkURN(c *vectorCase, _ []any) {
	kind, input := c.text("kind"), c.text("input")
	switch {
	case kind != "cap" && kind != "media":
		c.fail("unknown kind %q", kind)
	case c.has("error"):
		c.knows("name", "kind", "input", "error")
		c.compareURNError(kind, input)
	case kind == "cap":
		c.knows("name", "kind", "input", "canonical", "specificity", "in", "out", "effect")
		c.compareCap(input)
	default:
		c.knows("name", "kind", "input", "canonical", "specificity")
		c.compareMedia(input)
	}
}

func (c *vectorCase) compareURNError(kind, input string) {
	want, name := caps.Kind(c.text("error")), "Parse"
	_, err := caps.Parse(input)
	if kind == "media" {
		name = "ParseMedia"
		_, err = caps.ParseMedia(input)
	}
	switch {
	case err == nil:
		c.fail("%s accepts the text, want %s", name, want)
	case !errors.Is(err, want) || caps.KindOf(err) != want:
		c.fail("%s = %s, want %s: %v", name, caps.KindOf(err), want, err)
	}
}

func (c *vectorCase) compareCap(input string) {
	got, err := caps.Parse(input)
	if err != nil {
		c.fail("Parse = %v", err)
		return
	}
	c.compareText("canonical", got.String())
	c.compareNumber("specificity", got.Specificity())
	c.compareText("in", got.In().String())
	c.compareText("out", got.Out().String())
	c.compareText("effect", got.Effect().String())
	if again, err := caps.Parse(got.String()); err != nil || again.String() != got.String() {
		c.fail("the canonical text reads as %v, %v", again, err)
	}
}

func (c *vectorCase) compareMedia(input string) {
	got, err := caps.ParseMedia(input)
	if err != nil {
		c.fail("ParseMedia = %v", err)
		return
	}
	c.compareText("canonical", got.String())
	c.compareNumber("specificity", got.Specificity())
	if again, err := caps.ParseMedia(got.String()); err != nil || again.String() != got.String() {
		c.fail("the canonical text reads as %v, %v", again, err)
	}
}

func (c *vectorCase) compareText(key, got string) {
	if want := c.text(key); got != want {
		c.fail("%s = %q, want %q", key, got, want)
	}
}

func (c *vectorCase) compareNumber(key string, got int) {
	want, ok := jsonInt(c.values[key])
	if c.want(key, "number", ok) && got != want {
		c.fail("%s = %d, want %d", key, got, want)
	}
}

// checkDispatch checks whether a cap may serve a request, asked directly and of an index.
func checkDispatch(c *vectorCase, _ []any) {
	c.knows("name", "provider", "request", "dispatchable")
	provider, request, want := c.cap("provider"), c.cap("request"), c.flag("dispatchable")
	if len(c.failures) > 0 {
		return
	}
	if got := caps.Dispatchable(provider, request); got != want {
		c.fail("Dispatchable = %t, want %t", got, want)
	}
	if _, got := caps.NewIndex([]*caps.Cap{provider}).FindCap(request, nil); got != want {
		c.fail("FindCap = %t, want %t", got, want)
	}
}

// checkConforms checks whether a media URN conforms to a pattern, asked of either and of both as
// tagged URNs.
func checkConforms(c *vectorCase, _ []any) {
	c.knows("name", "instance", "pattern", "conforms")
	instance, pattern, want := c.media("instance"), c.media("pattern"), c.flag("conforms")
	if len(c.failures) > 0 {
		return
	}
	there, err := instance.URN().Conforms(pattern.URN())
	back, errBack := pattern.URN().Accepts(instance.URN())
	if err := errors.Join(err, errBack); err != nil {
		c.fail("of tagged URNs: %v", err)
	}
	for _, got := range []bool{instance.Conforms(pattern), pattern.Accepts(instance), there, back} {
		if got != want {
			c.fail("Conforms = %t, want %t", got, want)
		}
	}
}

// checkEquivalent checks whether two caps accept each other.
func checkEquivalent(c *vectorCase, _ []any) {
	c.knows("name", "a", "b", "equivalent")
	a, b, want := c.cap("a"), c.cap("b"), c.flag("equivalent")
	if len(c.failures) > 0 {
		return
	}
	for _, got := range []bool{a.Equivalent(b), b.Equivalent(a), a.Accepts(b) && b.Accepts(a)} {
		if got != want {
			c.fail("Equivalent = %t, want %t", got, want)
		}
	}
}

// cap returns the cap of a key; nil with a failure when there is none.
func (c *vectorCase) cap(key string) *caps.Cap {
	if !c.has(key) {
		c.fail("no key %q", key)
		return nil
	}
	return c.capOf(key, c.values[key])
}

// capOf returns the cap of a value; nil with a failure when it is none.
func (c *vectorCase) capOf(what string, value any) *caps.Cap {
	text, ok := value.(string)
	if !ok {
		c.fail("%s is no text: %s", what, jsonText(value))
		return nil
	}
	parsed, err := caps.Parse(text)
	if err != nil {
		c.fail("%s is no cap: %v", what, err)
	}
	return parsed
}

func (c *vectorCase) media(key string) caps.Media {
	m, err := caps.ParseMedia(c.text(key))
	if err != nil {
		c.fail("%s is no media URN: %v", key, err)
	}
	return m
}
