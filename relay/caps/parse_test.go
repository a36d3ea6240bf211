package caps_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unsafe"

	"github.com/cosim-go/cosim/relay/caps"
)

var allKinds = []caps.Kind{
	caps.ErrTooLong, caps.ErrWhitespace, caps.ErrEmpty, caps.ErrPrefix, caps.ErrTooManyTags,
	caps.ErrEmptyComponent, caps.ErrInvalidCharacter, caps.ErrInvalidEscape, caps.ErrUnterminatedQuote,
	caps.ErrNumericKey, caps.ErrDuplicateKey, caps.ErrVoidNotAtomic, caps.ErrInvalidIn, caps.ErrInvalidOut,
	caps.ErrInvalidEffect, caps.ErrIllegalDeclaration,
}

// TestFaultHasKindAndOffset marks the place of the fault in each text with a ^ before it.
func TestFaultHasKindAndOffset(t *testing.T) {
	for _, c := range []struct {
		marked string
		kind   caps.Kind
	}{
		{"^", caps.ErrEmpty},
		{"^ ", caps.ErrWhitespace},
		{"^\tcap:x", caps.ErrWhitespace},
		{"^\u2003cap:x", caps.ErrWhitespace},
		{"cap:x^\u2003", caps.ErrWhitespace},
		{"cap:x=,^ \n", caps.ErrWhitespace}, // before the tags
		{"^:", caps.ErrPrefix},
		{"^cap", caps.ErrPrefix},
		{"^cup:x=", caps.ErrPrefix},
		{"^c p:x", caps.ErrPrefix},
		{"^\xff:x", caps.ErrPrefix},
		{"cap:?^", caps.ErrEmptyComponent},
		{"cap:a;!^", caps.ErrEmptyComponent},
		{"cap:a=^", caps.ErrEmptyComponent},
		{"cap:a=^;b=", caps.ErrEmptyComponent},
		{`cap:a=^"";b`, caps.ErrEmptyComponent},
		{"cap:1=^", caps.ErrEmptyComponent}, // before what is wrong with the key
		{"cap:a;a=^", caps.ErrEmptyComponent},
		{"cap:?a=^", caps.ErrEmptyComponent},
		{"cap:^=x", caps.ErrInvalidCharacter},
		{"cap:a;^=", caps.ErrInvalidCharacter},
		{"cap:?^=x", caps.ErrInvalidCharacter},
		{"cap:?^;a", caps.ErrInvalidCharacter},
		{"cap:a^*", caps.ErrInvalidCharacter},
		{"cap:^*", caps.ErrInvalidCharacter},
		{"cap:a^ b", caps.ErrInvalidCharacter},
		{"cap:a=b^ c", caps.ErrInvalidCharacter},
		{"cap:a=^=b", caps.ErrInvalidCharacter},
		{"cap:a=b^=c", caps.ErrInvalidCharacter},
		{`cap:a=b^"c"`, caps.ErrInvalidCharacter},
		{`cap:a="b"^c`, caps.ErrInvalidCharacter},
		{`cap:a=""^c`, caps.ErrInvalidCharacter},
		{`cap:a="b"^ ;c`, caps.ErrInvalidCharacter},
		{"cap:?^?a", caps.ErrInvalidCharacter},
		{"cap:?a^?", caps.ErrInvalidCharacter},
		{"cap:a?^!", caps.ErrInvalidCharacter},
		{"cap:a?^b", caps.ErrInvalidCharacter},
		{"cap:?a=^*", caps.ErrInvalidCharacter},
		{"cap:a!=^?;b", caps.ErrInvalidCharacter},
		{`cap:a?=^"!"`, caps.ErrInvalidCharacter},
		{"cap:a;?a=^*", caps.ErrInvalidCharacter}, // before the key that occurs twice
		{"cap:a^\u0301", caps.ErrInvalidCharacter},
		{"cap:^\u2160", caps.ErrInvalidCharacter}, // a number, but no digit
		{"cap:a^\xc3(", caps.ErrInvalidCharacter},
		{"cap:a=x^\xff", caps.ErrInvalidCharacter},
		{"cap:a=\"x^\xff\"", caps.ErrInvalidCharacter},
		{`cap:a="x^\n"`, caps.ErrInvalidEscape},
		{`cap:a=^"x`, caps.ErrUnterminatedQuote},
		{`cap:a=^"x\"`, caps.ErrUnterminatedQuote},
		{`cap:a=^"x\\\`, caps.ErrUnterminatedQuote},
		{"cap:^12=x", caps.ErrNumericKey},
		{"cap:a;^!7", caps.ErrNumericKey},
		{"cap:b;a=1;^A", caps.ErrDuplicateKey},
		{"cap:a;^!a;b=", caps.ErrDuplicateKey},
		{"cap:in;^in=media:x", caps.ErrDuplicateKey},
		{"cap:a=1;É;^é", caps.ErrDuplicateKey},
		{"cap:in=^pdf;x", caps.ErrInvalidIn},
		{`cap:in="^ media:x";x`, caps.ErrInvalidIn},
		{`cap:in="media:a;^a";x`, caps.ErrInvalidIn},
		{"cap:in=media:a^*;x", caps.ErrInvalidIn},
		{"cap:x;in=media:Ⱥⱥ^*", caps.ErrInvalidIn}, // whose two letters take two bytes and three
		{`cap:in="media:a=\"b\\\"c\"^ ";x`, caps.ErrInvalidIn},
		{`cap:in="media:a=^\"b";x`, caps.ErrInvalidIn},
		{`cap:in="media:a=\"b^\\c\"";x`, caps.ErrInvalidIn},
		{`cap:in="media:a;^void";x`, caps.ErrInvalidIn},
		{"cap:^?in;x", caps.ErrInvalidIn},
		{"cap:x;^in=?", caps.ErrInvalidIn},
		{"cap:^!in=media:x;x", caps.ErrInvalidIn},
		{"cap:out=text;in=^pdf;x", caps.ErrInvalidIn}, // in before out before effect
		{"cap:effect=bad;out=^text;in=media:pdf", caps.ErrInvalidOut},
		{"cap:^out?=media:x;x", caps.ErrInvalidOut},
		{"cap:in=pdf;a=^", caps.ErrEmptyComponent}, // all tags before what they mean
		{"cap:x;^effect=reify", caps.ErrInvalidEffect},
		{"cap:^effect=!", caps.ErrInvalidEffect},
		{"cap:^effect?=none", caps.ErrInvalidEffect},
		{"cap:^", caps.ErrIllegalDeclaration},
		{"cap:^;in=*;out;effect=Declared;", caps.ErrIllegalDeclaration},
		{"cap:out=media:x;^effect=none", caps.ErrIllegalDeclaration},
		{"cap:a;^b;c", ""},
		{"media:a;^void", caps.ErrVoidNotAtomic},
		{"media:^?void;a", caps.ErrVoidNotAtomic},
		{"media:void;b=^", caps.ErrEmptyComponent},
		{"^cap:x/media", ""},
	} {
		offset := strings.IndexByte(c.marked, '^')
		text := c.marked[:offset] + c.marked[offset+1:]
		err := read(text)
		var e *caps.Error
		switch {
		case c.kind == "" && err != nil:
			t.Errorf("reading %q fails: %v", text, err)
		case c.kind == "":
		case !errors.As(err, &e) || e.Kind != c.kind || e.Offset != offset:
			t.Errorf("reading %q = %s at %v, want %s at offset %d", text, caps.KindOf(err), err, c.kind, offset)
		case e.Detail == "" || err.Error() != fmt.Sprintf("offset %d: %s", offset, e.Detail):
			t.Errorf("the text of the error is %q, its detail %q", err, e.Detail)
		}
	}
}

// read reads a text as a media URN when that is its prefix, and else as a cap.
func read(text string) (err error) {
	if strings.HasPrefix(text, "media:") {
		_, err = caps.ParseMedia(text)
	} else {
		_, err = caps.Parse(text)
	}
	return err
}

func TestKindsAreTellableApart(t *testing.T) {
	for _, kind := range allKinds {
		err := fmt.Errorf("reading: %w", &caps.Error{Kind: kind, Detail: "wrong"})
		for _, other := range allKinds {
			if errors.Is(err, other) != (other == kind) {
				t.Errorf("errors.Is(%s, %s) = %v", kind, other, other != kind)
			}
		}
		if caps.KindOf(err) != kind || kind.Error() != string(kind) {
			t.Errorf("KindOf = %s, want %s", caps.KindOf(err), kind)
		}
	}
	if caps.KindOf(errors.New("another")) != "" || caps.KindOf(nil) != "" {
		t.Error("KindOf knows the kind of an error of another package")
	}
}

func TestCanonicalTextOfCap(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"cap:b;!a;?c", "cap:!a;b;?c"}, // by key, not by what is before it
		{"cap:z;effect=patch;in=media:y;out=media:x;a", "cap:a;effect=patch;in=media:y;out=media:x;z"},
		{"cap:x;effect=*", "cap:?effect;x"},
		{"cap:x;effect=DECLARED;in=*;out", "cap:x"},
		{"cap:?x", "cap:?x"},
		{"cap:a-;a", "cap:a;a-"}, // = does not count either
		{"cap:a=1;a-", "cap:a=1;a-"},
		{"cap:x=?v", "cap:x=?v"}, // a value, no mark
		{"cap:x=a?*!", "cap:x=a?*!"},
		{"cap:?x=?v", "cap:x?=?v"},
		{`cap:x="!"`, "cap:!x"},
		{`cap:x="a,b"`, `cap:x="a,b"`}, // could not be read without quotes
		{"cap:x=\"a\tb\"", "cap:x=\"a\tb\""},
		{`cap:x="½"`, `cap:x="½"`},
		{`cap:x="É"`, `cap:x="É"`},
		{`cap:x="é"`, "cap:x=é"},
		{"cap:ÉA=ÉA", "cap:éa=éa"},
		{`cap:x="\"\\"`, `cap:x="\"\\"`},
		{`cap:x="\\a"`, `cap:x="\\a"`},
		{"cap:x=\"\ufffd\"", "cap:x=\"\ufffd\""},
		{`cap:in=Media:X;out="MEDIA:Y=\"Z\\\"\""`, `cap:in=media:x;out="media:y=\"Z\\\"\""`},
		{"cap:in=media:!x?;x", ""},
		{"cap:in=media:x!;x", "cap:in=media:!x;x"},
		{`cap:in="media:;";out="*";x`, "cap:x"},
		{"CaP:X", "cap:x"},
		{"cap:in2=x;output", "cap:in2=x;output"},
	} {
		got, err := caps.Parse(c.text)
		switch {
		case c.want == "":
			if err == nil {
				t.Errorf("Parse(%q) = %s, want an error", c.text, got)
			}
		case err != nil || got.String() != c.want:
			t.Errorf("Parse(%q) = %v, %v, want %s", c.text, got, err, c.want)
		case parse(c.want).String() != c.want:
			t.Errorf("Parse(%q) = %v, want the same", c.want, parse(c.want))
		}
	}
}

// TestTagsAreWhatIsWritten reads each form as it may be spelled, by itself and among others.
func TestTagsAreWhatIsWritten(t *testing.T) {
	for _, c := range []struct {
		spellings string
		want      caps.Tag
		text      string
	}{
		{`?x x? x=? x="?"`, caps.Tag{Key: "x", Form: caps.FormOpen}, "?x"},
		{`?x=v x?=v ?x="v"`, caps.Tag{Key: "x", Form: caps.FormAbsentOrNot, Value: "v"}, "x?=v"},
		{`x x=* x="*" X`, caps.Tag{Key: "x", Form: caps.FormPresent}, "x"},
		{`!x=v x!=v x!=V`, caps.Tag{Key: "x", Form: caps.FormPresentNot, Value: "v"}, "x!=v"},
		{`x=v x="v" X=V`, caps.Tag{Key: "x", Form: caps.FormExactly, Value: "v"}, "x=v"},
		{`x="V\\\"" X="V\\\""`, caps.Tag{Key: "x", Form: caps.FormExactly, Value: `V\"`}, `x="V\\\""`},
		{`!x x! x=! x="!"`, caps.Tag{Key: "x", Form: caps.FormAbsent}, "!x"},
	} {
		for spelling := range strings.FieldsSeq(c.spellings) {
			u, err := caps.ParseURN("any", "ANY:"+spelling)
			if err != nil {
				t.Errorf("%s: %v", spelling, err)
				continue
			}
			if got := slices.Collect(u.Tags()); len(got) != 1 || got[0] != c.want || got[0].String() != c.text || u.String() != "any:"+c.text {
				t.Errorf("%s has the tags %v, want %v", spelling, got, c.want)
			}
			if u.Specificity() != int(c.want.Form) || u.Prefix() != "any" {
				t.Errorf("%s has specificity %d and prefix %s", spelling, u.Specificity(), u.Prefix())
			}
			among := parse("cap:in=media:a;w=1;" + spelling + ";y;effect=patch")
			if got := slices.Collect(among.Tags()); len(got) != 3 || got[1] != c.want {
				t.Errorf("%s has the tags %v", among, got)
			}
		}
	}
}

func TestZeroMediaIsTop(t *testing.T) {
	var top caps.Media
	for _, m := range []caps.Media{top, parseMedia("media:"), parse("cap:x").In(), parse("cap:x").Out()} {
		if !m.IsTop() || m.String() != "media:" || m.Specificity() != 0 || m.URN().String() != "media:" || m.URN().Prefix() != "media" {
			t.Errorf("%s is not the top", m)
		}
		if void := parseMedia("media:void"); !m.Accepts(void) || m.Conforms(void) || m.Equivalent(void) || !m.Equivalent(top) {
			t.Errorf("%s does not compare as the top", m)
		}
		if same, err := m.URN().Equivalent(top.URN()); !same || err != nil {
			t.Errorf("the URN of the top differs from itself: %v", err)
		}
	}
	if open := parseMedia("media:?x"); open.IsTop() || len(slices.Collect(open.Tags())) != 1 {
		t.Errorf("%s is the top", open)
	}
}

func TestURNsOfOtherPrefixes(t *testing.T) {
	a, err := caps.ParseURN("model", "Model:size=7b;quant")
	if err != nil || a.String() != "model:quant;size=7b" {
		t.Fatalf("ParseURN = %s, %v", a, err)
	}
	if _, err := caps.ParseURN("model", "media:x"); caps.KindOf(err) != caps.ErrPrefix {
		t.Errorf("ParseURN of another prefix = %v, want %s", err, caps.ErrPrefix)
	}
	b, err := caps.ParseURN("media", "media:size;quant")
	if err != nil {
		t.Fatal(err)
	}
	for name, compare := range map[string]func(caps.URN) (bool, error){"Conforms": a.Conforms, "Accepts": a.Accepts, "Equivalent": a.Equivalent} {
		if yes, err := compare(b); yes || caps.KindOf(err) != caps.ErrPrefix {
			t.Errorf("%s with another prefix = %v, %v, want an error of kind %s", name, yes, err, caps.ErrPrefix)
		}
		if yes, err := compare(a); !yes || err != nil {
			t.Errorf("%s with itself = %v, %v", name, yes, err)
		}
	}
	c, err := caps.ParseURN("model", "model:quant")
	if err != nil {
		t.Fatal(err)
	}
	narrower, _ := a.Conforms(c)
	wider, _ := c.Conforms(a)
	covers, _ := c.Accepts(a)
	same, _ := a.Equivalent(c)
	if !narrower || wider || !covers || same {
		t.Errorf("%s and %s compare as %v, %v, %v, %v", a, c, narrower, wider, covers, same)
	}
	if zero := (caps.URN{}); zero.String() != ":" {
		t.Errorf("the zero URN is %q", zero)
	}
}

func TestLimits(t *testing.T) {
	long := "cap:x=" + strings.Repeat("v", caps.MaxLength-len("cap:x="))
	if c, err := caps.Parse(long); err != nil || c.String() != long {
		t.Errorf("a text of %d bytes: %v", len(long), err)
	}
	for name, text := range map[string]string{
		"one more":                 long + "v",
		"one more, white space":    long + " ",
		"longer in canonical form": "cap:x=" + strings.Repeat("Ⱥ", caps.MaxLength/len("Ⱥ")-5),
	} {
		if _, err := caps.Parse(text); caps.KindOf(err) != caps.ErrTooLong {
			t.Errorf("%s: %s, want %s", name, caps.KindOf(err), caps.ErrTooLong)
		}
		if _, err := caps.ParseURN("cap", text); caps.KindOf(err) != caps.ErrTooLong {
			t.Errorf("%s: %s, want %s", name, caps.KindOf(err), caps.ErrTooLong)
		}
	}
	var many strings.Builder
	for i := range caps.MaxTags {
		fmt.Fprintf(&many, ";?k%d;", i)
	}
	inner := "in=\"media:" + many.String() + `"`
	if c, err := caps.Parse("cap:" + many.String()); err != nil || len(slices.Collect(c.Tags())) != caps.MaxTags {
		t.Errorf("%d tags: %v", caps.MaxTags, err)
	}
	if c, err := caps.Parse("cap:x;" + inner); err != nil || len(slices.Collect(c.In().Tags())) != caps.MaxTags {
		t.Errorf("%d tags of in: %v", caps.MaxTags, err)
	}
	if _, err := caps.Parse("cap:" + many.String() + "x=,"); caps.KindOf(err) != caps.ErrTooManyTags {
		t.Errorf("%d tags: %v, want %s", caps.MaxTags+1, err, caps.ErrTooManyTags)
	}
	if _, err := caps.Parse("cap:" + inner[:len(inner)-1] + `x"`); caps.KindOf(err) != caps.ErrInvalidIn {
		t.Errorf("%d tags of in: %v, want %s", caps.MaxTags+1, err, caps.ErrInvalidIn)
	}
	for _, key := range []string{"K0", "k15", "k16", "k17", "k100"} {
		if _, err := caps.Parse("cap:" + strings.Replace(many.String(), "?k126", key, 1)); caps.KindOf(err) != caps.ErrDuplicateKey {
			t.Errorf("%s twice among many: %v, want %s", key, err, caps.ErrDuplicateKey)
		}
	}
}

// TestFoldingIsStable checks what canonical text rests on: a folded letter is a letter that
// folding leaves alone.
func TestFoldingIsStable(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			continue
		}
		folded := unicode.ToLower(r)
		if unicode.ToLower(folded) != folded || !unicode.IsLetter(folded) && !unicode.IsDigit(folded) {
			t.Errorf("%c folds to %c", r, folded)
		}
	}
}

// TestTextIsNotKept fails when a part of what was read is a part of the text it was read from.
func TestTextIsNotKept(t *testing.T) {
	text := `cap:plain=value;?open;!absent;not!="in quotes";esc="a\"b\\";in="media:ext=pdf;q=\"A B\"";out=media:record;effect=patch`
	c := parse(text)
	check := func(part string) {
		t.Helper()
		start, at := uintptr(unsafe.Pointer(unsafe.StringData(text))), uintptr(unsafe.Pointer(unsafe.StringData(part)))
		if part != "" && at >= start && at < start+uintptr(len(text)) {
			t.Errorf("%q is part of the text that was read", part)
		}
	}
	check(c.String())
	for _, m := range []caps.Media{c.In(), c.Out()} {
		check(m.String())
		for tag := range m.Tags() {
			check(tag.Key)
			check(tag.Value)
		}
	}
	n := 0
	for tag := range c.Tags() {
		check(tag.Key)
		check(tag.Value)
		n++
	}
	if n != 5 {
		t.Errorf("%d tags, want 5", n)
	}
}
