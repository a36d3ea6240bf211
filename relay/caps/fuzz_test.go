package caps_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/cosim-go/cosim/relay/caps"
)

// FuzzParse expects that no text makes reading panic, that every error has a known kind and a
// place in the text, and that canonical text reads as the same again.
func FuzzParse(f *testing.F) {
	for _, text := range vectorTexts(f) {
		f.Add(text)
	}
	for _, text := range hostile(100) {
		f.Add(text)
	}
	for _, text := range []string{`cap:a="\"\\";b?="A,B";!c;in="media:a=\"x\\\"y\"";out=media:b?`, "cap:Ⱥ=ⱥ;İ", "media:void;?a", "x:ǅ=ǅ;ß=ẞ"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := caps.Parse(text)
		checkFault(t, text, err)
		if err == nil {
			checkCap(t, c)
		}
		m, err := caps.ParseMedia(text)
		checkFault(t, text, err)
		if err == nil {
			again, err := caps.ParseMedia(m.String())
			if err != nil || again.String() != m.String() || again.Specificity() != m.Specificity() || !m.Equivalent(again) {
				t.Errorf("ParseMedia(%q) = %v, %v", m, again, err)
			}
		}
		prefix, _, _ := strings.Cut(text, ":")
		prefix = strings.ToLower(prefix)
		u, err := caps.ParseURN(prefix, text)
		checkFault(t, text, err)
		if err == nil {
			again, err := caps.ParseURN(prefix, u.String())
			if err != nil || again.String() != u.String() || !slices.Equal(slices.Collect(again.Tags()), slices.Collect(u.Tags())) {
				t.Errorf("ParseURN(%q) = %v, %v", u, again, err)
			}
			checkTags(t, u)
		}
	})
}

func checkFault(t *testing.T, text string, err error) {
	t.Helper()
	var e *caps.Error
	switch {
	case err == nil:
	case !errors.As(err, &e) || !slices.Contains(allKinds, e.Kind):
		t.Errorf("reading %q fails with an error of no known kind: %v", text, err)
	case e.Offset < 0 || e.Offset > len(text):
		t.Errorf("reading %q fails at offset %d of %d: %v", text, e.Offset, len(text), err)
	}
}

func checkCap(t *testing.T, c *caps.Cap) {
	t.Helper()
	again, err := caps.Parse(c.String())
	if err != nil || again.String() != c.String() || again.Specificity() != c.Specificity() || again.Effect() != c.Effect() {
		t.Fatalf("Parse(%q) = %v, %v", c, again, err)
	}
	if !slices.Equal(slices.Collect(again.Tags()), slices.Collect(c.Tags())) || again.In().String() != c.In().String() || again.Out().String() != c.Out().String() {
		t.Errorf("Parse(%q) has other parts", c)
	}
	if !caps.Dispatchable(c, again) || !caps.Dispatchable(again, c) || !c.Equivalent(again) {
		t.Errorf("%s does not serve itself", c)
	}
	if place, found := caps.NewIndex([]*caps.Cap{c}).Find(c.String(), ""); !found || place != 0 {
		t.Errorf("an index of %s does not find it", c)
	}
}

func checkTags(t *testing.T, u caps.URN) {
	t.Helper()
	last, sum := "", 0
	for tag := range u.Tags() {
		if tag.Key <= last {
			t.Errorf("key %q stands behind %q", tag.Key, last)
		}
		if (tag.Value != "") != strings.Contains(tag.String(), "=") {
			t.Errorf("%s has the value %q", tag, tag.Value)
		}
		last, sum = tag.Key, sum+int(tag.Form)
	}
	if u.Specificity() != sum {
		t.Errorf("specificity of %s = %d, want %d", u, u.Specificity(), sum)
	}
	if same, err := u.Equivalent(u); !same || err != nil {
		t.Errorf("%s is not equivalent to itself: %v", u, err)
	}
}
