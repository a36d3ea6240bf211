package placeholder

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// values answers with the name in angle brackets, so that a value is seen where it goes.
func values(name string) (string, bool) { return "<" + name + ">", true }

// Requirement: X6, the texts of a template kind's command.
func TestParse(t *testing.T) {
	tests := []struct {
		name, text string
		names      []Name
		want       string // expanded
	}{
		{"empty", "", nil, ""},
		{"plain", "--verbose", nil, "--verbose"},
		{"alone", "{{socket}}", []Name{{"socket", 0}}, "<socket>"},
		{"inside", "--socket={{socket}},x", []Name{{"socket", 9}}, "--socket=<socket>,x"},
		{"at the end", "a{{b}}", []Name{{"b", 1}}, "a<b>"},
		{"at the start", "{{b}}a", []Name{{"b", 0}}, "<b>a"},
		{"side by side", "{{a}}{{b}}", []Name{{"a", 0}, {"b", 5}}, "<a><b>"},
		{"twice", "{{a}}:{{a}}", []Name{{"a", 0}, {"a", 6}}, "<a>:<a>"},
		{"every character of a name", "{{aZ09_-.x}}", []Name{{"aZ09_-.x", 0}}, "<aZ09_-.x>"},
		{"offsets are bytes", "größe {{a}}", []Name{{"a", 8}}, "größe <a>"},
		{"bytes that are not UTF-8", "\xff{{a}}\xfe", []Name{{"a", 1}}, "\xff<a>\xfe"},
		{"newlines", "a\n{{b}}\n", []Name{{"b", 2}}, "a\n<b>\n"},

		{"literal", `{{"{{"}}`, nil, "{{"},
		{"literal inside", `a{{"{{"}}b`, nil, "a{{b"},
		{"literal and placeholder", `{{"{{"}}{{a}}{{"{{"}}`, []Name{{"a", 8}}, "{{<a>{{"},
		{"literal that spells a placeholder", `{{"{{"}}a}}`, nil, "{{a}}"},
		{"literals side by side", `{{"{{"}}{{"{{"}}`, nil, "{{{{"},

		{"closing braces alone", "}}", nil, "}}"},
		{"closing braces behind a placeholder", "{{a}}}}", []Name{{"a", 0}}, "<a>}}"},
		{"three closing braces", `{"n":{{a}}}`, []Name{{"a", 5}}, `{"n":<a>}`},
		{"nested JSON", `{"a":{"b":{"c":"{{d}}"}}}`, []Name{{"d", 16}}, `{"a":{"b":{"c":"<d>"}}}`},
		{"single braces", "{a} } {", nil, "{a} } {"},
		{"a single brace at the end", "{{a}}{", []Name{{"a", 0}}, "<a>{"},
		{"braces apart", "{ {a}}", nil, "{ {a}}"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text, err := Parse(tt.text)
			if err != nil {
				t.Fatalf("Parse(%q) = %v, want no error", tt.text, err)
			}
			if text.String() != tt.text {
				t.Errorf("String() = %q, want %q", text, tt.text)
			}
			if got := text.Names(); !reflect.DeepEqual(got, tt.names) {
				t.Errorf("Names() = %v, want %v", got, tt.names)
			}
			if got, err := text.Expand(values); got != tt.want || err != nil {
				t.Errorf("Expand = %q, %v, want %q", got, err, tt.want)
			}
		})
	}
}

func TestParseRejects(t *testing.T) {
	unclosed := `"{{" without "}}"; a literal "{{" is written {{"{{"}}`
	notAName := func(s string) string { return fmt.Sprintf("%q is not the name of a placeholder", s) }
	tests := []struct {
		name, text string
		offset     int
		reason     string
	}{
		{"unclosed", "{{", 0, unclosed},
		{"unclosed name", "--socket={{socket", 9, unclosed},
		{"closed by one brace", "{{socket}", 0, unclosed},
		{"unclosed behind another", "{{a}}{{b", 5, unclosed},
		{"unclosed behind a literal", `{{"{{"}}{{`, 8, unclosed},
		{"offset in bytes", "größe {{", 8, unclosed},
		{"empty name", "{{}}", 0, notAName("")},
		{"spaces", "{{ socket }}", 0, notAName(" socket ")},
		{"a space alone", "{{ }}", 0, notAName(" ")},
		{"space inside", "{{a b}}", 0, notAName("a b")},
		{"newline", "{{a\n}}", 0, notAName("a\n")},
		{"nested", "{{a{{b}}}}", 0, notAName("a{{b")},
		{"three braces", "x{{{a}}}", 1, notAName("{a")},
		{"four braces", "{{{{a}}}}", 0, notAName("{{a")},
		{"logic", "{{if a}}", 0, notAName("if a")},
		{"a default", "{{a|b}}", 0, notAName("a|b")},
		{"other letters", "{{größe}}", 0, notAName("größe")},
		{"half a literal", `{{"}}`, 0, notAName(`"`)},
		{"another literal", `{{"x"}}`, 0, notAName(`"x"`)},
		{"first of two", "{{ a}}{{", 0, notAName(" a")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text, err := Parse(tt.text)
			var e *Error
			if !errors.As(err, &e) || e.Offset != tt.offset || e.Reason != tt.reason {
				t.Errorf("Parse(%q) = %v, want offset %d: %s", tt.text, err, tt.offset, tt.reason)
			}
			if want := fmt.Sprintf("offset %d: %s", tt.offset, tt.reason); err.Error() != want {
				t.Errorf("Error() = %q, want %q", err, want)
			}
			if !reflect.DeepEqual(text, Text{}) {
				t.Errorf("Parse(%q) = %v beside its error, want nothing", tt.text, text)
			}
		})
	}
}

func TestSole(t *testing.T) {
	for text, want := range map[string]string{
		"{{attach}}": "attach", "": "", "attach": "", "{{a}}{{b}}": "", " {{a}}": "", "{{a}} ": "", `{{"{{"}}`: "",
	} {
		if got, ok := MustParse(text).Sole(); got != want || ok != (want != "") {
			t.Errorf("MustParse(%q).Sole() = %q, %v, want %q", text, got, ok, want)
		}
	}
}

func TestExpandPutsValuesInAsTheyAre(t *testing.T) {
	text := MustParse(`"{{a}}"`)
	for _, value := range []string{"", "{{b}}", `{{"{{"}}`, "\x00\n\"\\"} {
		got, err := text.Expand(func(string) (string, bool) { return value, true })
		if got != `"`+value+`"` || err != nil {
			t.Errorf("Expand to %q = %q, %v", value, got, err)
		}
	}
}

func TestExpandOfAnUnknownName(t *testing.T) {
	only := func(name string) (string, bool) { return "v", name == "a" }
	got, err := MustParse("{{a}}{{b.c}}").Expand(only)
	if want := "placeholder {{b.c}} has no value here"; got != "" || err == nil || err.Error() != want {
		t.Errorf("Expand = %q, %v, want error %q", got, err, want)
	}
}

func TestZeroText(t *testing.T) {
	var zero Text
	if got, err := zero.Expand(values); got != "" || err != nil || zero.String() != "" || zero.Names() != nil {
		t.Errorf("the zero Text expands to %q, %v", got, err)
	}
	if !reflect.DeepEqual(zero, MustParse("")) {
		t.Error("the empty text is not the zero Text")
	}
}

func TestMustParsePanics(t *testing.T) {
	defer func() {
		if s, _ := recover().(string); !strings.HasPrefix(s, "placeholder: ") {
			t.Errorf("MustParse panics with %q, want the package's name in front", s)
		}
	}()
	MustParse("{{")
}

// FuzzParse compares with a reading by regular expression, which no other code shares.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"--socket={{socket}}", `{{"{{"}}{{a}}`, "{{", "{{}}", "{{{a}}}", "}}", `{{"{{"`, "{{a}}{{b"} {
		f.Add(s)
	}
	grammar := regexp.MustCompile(`(?s)\{\{"\{\{"\}\}|\{\{([A-Za-z0-9_.-]+)\}\}|\{\{`)
	f.Fuzz(func(t *testing.T, s string) {
		var names []Name
		wantErr := false
		for _, m := range grammar.FindAllStringSubmatchIndex(s, -1) {
			if m[2] >= 0 {
				names = append(names, Name{s[m[2]:m[3]], m[0]})
			}
			wantErr = wantErr || m[1]-m[0] == len("{{")
		}
		text, err := Parse(s)
		if (err != nil) != wantErr {
			t.Fatalf("Parse(%q) = %v, want an error: %v", s, err, wantErr)
		}
		if err != nil {
			if e := err.(*Error); e.Offset < 0 || !strings.HasPrefix(s[e.Offset:], "{{") {
				t.Fatalf("Parse(%q) = %v, no {{ is there", s, err)
			}
			return
		}
		if got := text.Names(); !reflect.DeepEqual(got, names) {
			t.Fatalf("Parse(%q).Names() = %v, want %v", s, got, names)
		}
		checkIdentity(t, text)
	})
}

// checkIdentity fills each placeholder with its own spelling: that gives the text as
// written, its literals apart, and reads as the same text again.
func checkIdentity(t *testing.T, text Text) {
	t.Helper()
	got, err := text.Expand(func(name string) (string, bool) { return "{{" + name + "}}", true })
	if want := strings.ReplaceAll(text.String(), `{{"{{"}}`, "{{"); got != want || err != nil {
		t.Fatalf("Expand(%q) = %q, %v, want %q", text, got, err, want)
	}
	if strings.Contains(text.String(), `{{"{{"}}`) {
		return
	}
	if again, err := Parse(got); err != nil || !reflect.DeepEqual(again, text) {
		t.Fatalf("%q read again = %+v, %v, want %+v", got, again, err, text)
	}
}
