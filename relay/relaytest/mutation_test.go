package relaytest

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// The runner is only worth its name when it sees a vector that is wrong. Here real vectors are
// made wrong, one statement at a time, each time in a file with that one case, and every such
// file has to fail.

// A mutant is a copy of a value with one thing changed.
type mutant struct {
	change string // such as: fields.seq: +1
	value  any
}

// mutants returns copies of a JSON value with something changed at one place each: another
// number or text, a key or element less or more, elements in another order. What stands under
// a key that skip names stays as it is.
func mutants(v any, path string, skip ...string) []mutant {
	switch v := v.(type) {
	case map[string]any:
		return objectMutants(v, path, skip)
	case []any:
		return listMutants(v, path, skip)
	case string:
		return []mutant{{path + ": another text", v + "x"}}
	case json.Number:
		return []mutant{{path + ": +1", plusOne(v)}}
	case bool:
		return []mutant{{path + ": the other truth", !v}}
	}
	return nil
}

func objectMutants(o map[string]any, path string, skip []string) []mutant {
	more := maps.Clone(o)
	more["unheard_of"] = json.Number("1")
	all := []mutant{{path + ": an unknown key", more}}
	for _, key := range slices.Sorted(maps.Keys(o)) {
		if hasNoMeaning(key) || slices.Contains(skip, key) {
			continue
		}
		less := maps.Clone(o)
		delete(less, key)
		all = append(all, mutant{path + "." + key + ": left out", less})
		for _, m := range mutants(o[key], path+"."+key, skip...) {
			other := maps.Clone(o)
			other[key] = m.value
			all = append(all, mutant{m.change, other})
		}
	}
	return all
}

func listMutants(l []any, path string, skip []string) []mutant {
	var all []mutant
	for i := range l {
		at := fmt.Sprintf("%s[%d]", path, i)
		all = append(all,
			mutant{at + ": left out", slices.Delete(slices.Clone(l), i, i+1)},
			mutant{at + ": twice", slices.Insert(slices.Clone(l), i, l[i])})
		for _, m := range mutants(l[i], at, skip...) {
			other := slices.Clone(l)
			other[i] = m.value
			all = append(all, mutant{m.change, other})
		}
	}
	if len(l) > 1 {
		turned := slices.Clone(l)
		slices.Reverse(turned)
		all = append(all, mutant{path + ": turned round", turned})
	}
	return all
}

// plusOne adds to the last digit, which a conversion to float64 might lose.
func plusOne(n json.Number) json.Number {
	digits := []byte(n)
	last := &digits[len(digits)-1]
	if *last = *last + 1; *last > '9' {
		*last = '0'
	}
	return json.Number(digits)
}

// vectorCases returns the cases of a section by name, or by number where they have none.
func vectorCases(t *testing.T, section string) map[string]map[string]any {
	t.Helper()
	cases := map[string]map[string]any{}
	for _, path := range vectorFiles {
		d := json.NewDecoder(bytes.NewReader(readVectors(t, path)))
		d.UseNumber()
		var file map[string]any
		if err := d.Decode(&file); err != nil {
			t.Fatal(err)
		}
		list, _ := file[section].([]any)
		for i, v := range list {
			c := v.(map[string]any)
			name, ok := c["name"].(string)
			if !ok {
				name = fmt.Sprint(i)
			}
			cases[name] = c
		}
	}
	if len(cases) == 0 {
		t.Fatalf("no section %s", section)
	}
	return cases
}

// judge runs a file with one case.
func judge(t *testing.T, section string, vector any) *VectorReport {
	t.Helper()
	file, err := json.Marshal(map[string]any{section: []any{vector}})
	if err != nil {
		t.Fatal(err)
	}
	report, err := CheckVectors("vectors", file)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// mustFail notes each mutant of a case that passes.
func mustFail(t *testing.T, section, name string, all []mutant) {
	t.Helper()
	if len(all) == 0 {
		t.Errorf("%s: %s: nothing was changed", section, name)
	}
	for _, m := range all {
		report := judge(t, section, m.value)
		if report.OK() {
			t.Errorf("%s: %s%s: passes all the same", section, name, m.change)
		} else if s := report.Sections[0]; s.Run != 1 || s.Passed != 0 {
			t.Errorf("%s: %s%s: %d run, %d passed, want 1 and 0", section, name, m.change, s.Run, s.Passed)
		}
	}
}

// with returns a case with other values.
func with(c map[string]any, keysAndValues ...any) map[string]any {
	other := maps.Clone(c)
	for i := 0; i < len(keysAndValues); i += 2 {
		other[keysAndValues[i].(string)] = keysAndValues[i+1]
	}
	return other
}

// byteMutants changes bytes of a text in hex: each of a short one, about sixty of a long one.
func byteMutants(c map[string]any, key string) []mutant {
	b, _ := hex.DecodeString(c[key].(string))
	var all []mutant
	for i := 0; i < len(b); i += 1 + len(b)/60 {
		other := bytes.Clone(b)
		other[i] ^= 1
		all = append(all, mutant{fmt.Sprintf(".%s: byte %d", key, i), with(c, key, hex.EncodeToString(other))})
	}
	return all
}

func TestWrongFramesFail(t *testing.T) {
	for _, section := range []string{"valid", "provisional"} {
		for name, c := range vectorCases(t, section) {
			all := mutants(c, "", "name", "hex", "ignored")
			if c["canonical"] == true { // elsewhere there are bytes that mean nothing
				all = append(all, byteMutants(c, "hex")...)
			}
			if ignored, ok := c["ignored"]; ok {
				for _, m := range mutants(ignored, ".ignored") {
					if !strings.HasSuffix(m.change, "turned round") { // their order says nothing
						all = append(all, mutant{m.change, with(c, "ignored", m.value)})
					}
				}
			}
			all = append(all, mutant{".name: left out", leftOut(c, "name")})
			mustFail(t, section, name, all)
		}
	}
	settled := vectorCases(t, "valid")["req_uint_id"]
	mustFail(t, "provisional", "req_uint_id", []mutant{{"", settled}})
}

func leftOut(c map[string]any, key string) map[string]any {
	other := maps.Clone(c)
	delete(other, key)
	return other
}

func TestWrongInvalidFramesFail(t *testing.T) {
	good := vectorCases(t, "valid")["req_uint_id"]["hex"]
	other := map[any]string{"decode": "invalid_frame", "invalid_frame": "decode"}
	for name, c := range vectorCases(t, "invalid") {
		mustFail(t, "invalid", name, append(mutants(c, "", "name", "hex"),
			mutant{".class: the other", with(c, "class", other[c["class"]])},
			mutant{".class: of another layer", with(c, "class", "protocol")},
			mutant{".hex: a good frame", with(c, "hex", good)},
			mutant{".hex: odd", with(c, "hex", c["hex"].(string)+"0")},
			mutant{".hex: left out", leftOut(c, "hex")}))
	}
}

func TestWrongStreamsFail(t *testing.T) {
	for name, c := range vectorCases(t, "streams") {
		all := append(mutants(c, "", "name", "hex", "max_frame"),
			mutant{".max_frame: left out", leftOut(c, "max_frame")},
			mutant{".max_frame: 0", with(c, "max_frame", json.Number("0"))},
			mutant{".outcomes: an error more", with(c, "outcomes", append(slices.Clone(c["outcomes"].([]any)), "error:decode"))})
		mustFail(t, "streams", name, all)
	}
	cases := vectorCases(t, "streams")
	exact, over := cases["frame_exactly_at_max"], cases["frame_one_over_max"]
	mustFail(t, "streams", "max_frame", []mutant{
		{": less", with(exact, "max_frame", over["max_frame"])},
		{": more", with(over, "max_frame", exact["max_frame"])},
	})
	one := cases["one_frame"]
	stream := one["hex"].(string)
	for _, outcome := range []string{"error:io", "error:protocol", "frame:res", "frame:policy", "frame:", "end"} {
		mustFail(t, "streams", "one_frame", []mutant{{": " + outcome, with(one, "outcomes", []any{outcome, "eof"})}})
	}
	mustFail(t, "streams", "one_frame", append(byteMutants(with(one, "hex", stream[:8]), "hex"),
		mutant{".hex: a byte less", with(one, "hex", stream[:len(stream)-2])},
		mutant{".hex: a byte more", with(one, "hex", stream+"00")}))
}

func TestWrongChecksumsFail(t *testing.T) {
	for name, c := range vectorCases(t, "cases") {
		mustFail(t, "cases", name, append(mutants(c, "", "hex"), append(byteMutants(c, "hex"),
			mutant{".hex: a byte more", with(c, "hex", c["hex"].(string)+"01")})...))
	}
}

func TestWrongScriptsFail(t *testing.T) {
	for name, c := range vectorCases(t, "scripts") {
		// Another rid, seq or type may come to the same; what a step states must not.
		all := mutants(with(c, "steps", []any{}), "", "name", "max_buffer_per_flow")
		steps := c["steps"].([]any)
		for i, v := range steps {
			if len(steps)-i > 4 && i%8 > 0 && len(steps) > 16 {
				continue // more of the same
			}
			for _, m := range stepMutants(v.(map[string]any)) {
				other := slices.Clone(steps)
				other[i] = m.value
				all = append(all, mutant{fmt.Sprintf(".steps[%d]%s", i, m.change), with(c, "steps", other)})
			}
		}
		mustFail(t, "scripts", name, all)
	}
}

// stepMutants changes what a step states, and what it must have.
func stepMutants(step map[string]any) []mutant {
	all := mutants(step, "", "rid", "xid", "seq", "type")
	for _, key := range []string{"rid", "seq", "type"} {
		if _, ok := step[key]; ok {
			all = append(all, mutant{"." + key + ": left out", leftOut(step, key)},
				mutant{"." + key + ": of another kind", with(step, key, []any{})})
		}
	}
	for _, m := range mutants(step["deliver"], ".deliver") {
		all = append(all, mutant{m.change, with(step, "deliver", m.value)})
	}
	for _, name := range []string{"stale", "duplicate", "overflow"} {
		if step["error"] != name && step["op"] == "accept" {
			all = append(all, mutant{".error: " + name, with(leftOut(step, "deliver"), "error", name)})
		}
	}
	if step["error"] != nil {
		all = append(all, mutant{".deliver: instead of the error", with(leftOut(step, "error"), "deliver", []any{})})
	}
	return all
}

func TestWrongScriptInputFails(t *testing.T) {
	scripts := vectorCases(t, "scripts")
	limit := scripts["overflow_at_limit"]
	mustFail(t, "scripts", "overflow_at_limit", []mutant{
		{".max_buffer_per_flow: less", with(limit, "max_buffer_per_flow", json.Number("2"))},
		{".max_buffer_per_flow: more", with(limit, "max_buffer_per_flow", json.Number("4"))},
		{".max_buffer_per_flow: left out", leftOut(limit, "max_buffer_per_flow")},
	})
	gap := scripts["gap_then_fill"]
	flows := scripts["xid_makes_another_flow"]
	for i := range gap["steps"].([]any) {
		for _, change := range []struct {
			key   string
			value any
		}{{"seq", json.Number("9")}, {"rid", json.Number("9")}, {"xid", json.Number("9")}, {"type", "log"}, {"type", "cancel"}} {
			mustFail(t, "scripts", "gap_then_fill", []mutant{{
				fmt.Sprintf(".steps[%d].%s: %v", i, change.key, change.value), withStep(gap, i, change.key, change.value),
			}})
		}
	}
	mustFail(t, "scripts", "xid_makes_another_flow", []mutant{{".steps[2].xid: of the step before", withStep(flows, 2, "xid", json.Number("5"))}})
}

func withStep(script map[string]any, i int, key string, value any) map[string]any {
	steps := slices.Clone(script["steps"].([]any))
	steps[i] = with(steps[i].(map[string]any), key, value)
	return with(script, "steps", steps)
}

// What the failures say, for one of each kind.
func TestFailuresSayWhere(t *testing.T) {
	script := vectorCases(t, "scripts")["gap_then_fill"]
	chunk := vectorCases(t, "valid")["chunk_plain"]
	for _, test := range []struct {
		section string
		vector  map[string]any
		want    string
	}{
		{"valid", with(chunk, "fields", with(chunk["fields"].(map[string]any), "checksum", json.Number("11831194018420276490"))),
			"vectors: valid: chunk_plain: field checksum = 11831194018420276491, want 11831194018420276490"},
		{"valid", with(chunk, "ignored", []any{"unknown key 30"}),
			"vectors: valid: chunk_plain: ignored: the body has no such thing: unknown key 30"},
		{"invalid", map[string]any{"name": "good", "hex": chunk["hex"], "class": "decode"},
			"vectors: invalid: good: Decode accepts the body, want decode"},
		{"streams", map[string]any{"name": "s", "hex": "0000", "max_frame": json.Number("9"), "outcomes": []any{"eof"}},
			"vectors: streams: s: outcomes = error:unexpected_eof, want eof"},
		{"cases", map[string]any{"hex": "61", "checksum": json.Number("12638187200555641997")},
			"vectors: cases: case 0: Checksum = 12638187200555641996, want 12638187200555641997"},
		{"scripts", withStep(script, 3, "deliver", []any{}),
			"vectors: scripts: gap_then_fill: step 3: deliver = [chunk 1, chunk 2, chunk 3], want []"},
		{"scripts", withStep(script, 3, "op", "wait"), `vectors: scripts: gap_then_fill: step 3: unknown op "wait"`},
	} {
		got := judge(t, test.section, test.vector).Failures
		if len(got) == 0 || !strings.HasPrefix(got[0], test.want) {
			t.Errorf("Failures = %q, want first %q", got, test.want)
		}
	}
}
