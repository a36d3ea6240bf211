package manifest

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// Hostile returns texts that are, or are nearly, JSON.
func Hostile() []string {
	return []string{
		``, `{}`, `[]`, `null`, `0`, `-`, `"`, `"\u12`, `"\u12G4"`, `"\ud800"`, `"\ud83d\ude00"`, "\"\x00\"", "\"\x1f\"", "\"\x7f\"", "\"\xff\"", `"\a"`, `"\`,
		`1e999`, `1e`, `1e+`, `1E-05`, `01`, `-01`, `1.`, `1.5.5`, `.5`, `-0`, `-0.0e0`, `+1`, `0x1`, `1 2`, `tru`, `truex`, `nul`, `nullnull`, `NaN`, `False`,
		`[1,]`, `[,1]`, `[1 2]`, `[`, `]`, `[}`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{,}`, `{a:1}`, `{1:1}`, `{"a":1 "b":2}`, `{"":{}}`, `{"a":1}}`, "{\"a\"\v:1}",
		" \t\r\n[ \t\r\n1 \t\r\n, \t\r\n2 \t\r\n] \t\r\n", "\f[]", "\ufeff{}", "\u2028", `"` + "\u2028" + `"`, `// x`, `/**/1`,
		strings.Repeat("[", 1000), strings.Repeat(`{"a":`, 200), `{"caps":` + strings.Repeat("[", 127),
		`{"caps":["cap:a","cap:\u0061"]}`, `{"\u0063aps":[],"caps":[]}`, `{"all":{"declared":18446744073709551615}}`,
	}
}

// FuzzScanner expects the scanner to take what encoding/json takes, and to read texts as that does.
func FuzzScanner(f *testing.F) {
	for _, text := range Hostile() {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r := newReader()
		err := r.document(data, func() error { _, err := r.value(); return err })
		want := json.Valid(data) && utf8.Valid(data)
		if want && bytes.Count(data, []byte("["))+bytes.Count(data, []byte("{")) > maxDepth {
			return // perhaps too deep
		}
		if (err == nil) != want {
			t.Errorf("%q: %v, want %v", data, err, want)
		}
		var text string
		if json.Unmarshal(data, &text) == nil && want {
			r.scanner = scanner{data: data}
			if r.null() {
				return
			}
			if got, err := r.text(); err != nil || got != text {
				t.Errorf("text of %s = %q, %v, want %q", data, got, err, text)
			}
			var again string
			if err := json.Unmarshal(appendString(nil, text), &again); err != nil || again != text {
				t.Errorf("written again: %q, %v, want %q", again, err, text)
			}
		}
	})
}

// Every document is refused when it ends early.
func TestCutTexts(t *testing.T) {
	text := []byte(`{"a":[1,-2.5e3,"\u00e4\n",true,false,null,{}],"b":{"c":[[]]}}`)
	for n := range text {
		r := newReader()
		if err := r.document(text[:n], func() error { _, err := r.value(); return err }); err == nil {
			t.Errorf("%s passed", text[:n])
		}
	}
}

// What is written of any text reads as the same again, with U+FFFD for what is no UTF-8.
func TestAppendString(t *testing.T) {
	for text, want := range map[string]string{
		"": `""`, "a/b": `"a/b"`, "\"\\": `"\"\\"`, "\x00\n\x1f\x7f": "\"\\u0000\\u000a\\u001f\x7f\"", "ä\u2028<&>": "\"ä\u2028<&>\"", "a\xffb": "\"a\ufffdb\"",
	} {
		got := appendString(nil, text)
		var again string
		if err := json.Unmarshal(got, &again); string(got) != want || err != nil || again != strings.ToValidUTF8(text, "\ufffd") {
			t.Errorf("appendString(%q) = %s, %v, want %s", text, got, err, want)
		}
	}
}
