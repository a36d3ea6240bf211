package relaytest

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// mustFailEach notes what passes of the changes to each case of a section: those of what it
// states, not of what it is given under the keys of input, and a key of these that is left out.
func mustFailEach(t *testing.T, section string, input ...string) {
	t.Helper()
	for name, c := range vectorCases(t, section) {
		var all []mutant
		for _, m := range mutants(c, "", append(input, "name")...) {
			if !reflect.DeepEqual(m.value, c) { // a list that is the same when it is turned round
				all = append(all, m)
			}
		}
		for _, key := range input {
			if c[key] != nil && key != "preferred" {
				all = append(all, mutant{"." + key + ": left out", leftOut(c, key)},
					mutant{"." + key + ": of another kind", with(c, key, json.Number("1"))})
			}
		}
		mustFail(t, section, name, all)
	}
}

// firstURNCase returns the first case in a section of which something is true.
func firstURNCase(t *testing.T, section string, holds func(c map[string]any) bool) map[string]any {
	t.Helper()
	cases := vectorCases(t, section)
	for _, c := range cases {
		if holds(c) {
			return c
		}
	}
	t.Fatalf("no such case of section %s", section)
	return nil
}

func TestWrongURNsFail(t *testing.T) {
	for name, c := range vectorCases(t, "parse") {
		var all []mutant
		if c["error"] == nil {
			all = append(mutants(c, ""), mutant{": an error too", with(c, "error", "prefix")})
		} else {
			all = append(mutants(c, "", "input"),
				mutant{".input: left out", leftOut(c, "input")}, mutant{".input: good", with(c, "input", c["kind"].(string)+":a=1")},
				mutant{": a result too", with(c, "canonical", c["input"], "specificity", json.Number("0"))})
		}
		for _, other := range []string{"whitespace", "prefix", "duplicate_key", "illegal_declaration"} {
			if c["error"] != other {
				all = append(all, mutant{".error: " + other, with(leftOut(leftOut(c, "canonical"), "specificity"), "error", other)})
			}
		}
		other := map[any]string{"cap": "media", "media": "cap"}
		if c["error"] == nil {
			all = append(all, mutant{".kind: the other", with(c, "kind", other[c["kind"]])})
		}
		mustFail(t, "parse", name, all)
	}
	media := firstURNCase(t, "parse", func(c map[string]any) bool { return c["kind"] == "media" && c["canonical"] != nil })
	mustFail(t, "parse", "media", []mutant{{": what only a cap has", with(media, "in", media["canonical"])}})
}

func TestWrongDispatchesFail(t *testing.T) {
	mustFailEach(t, "dispatch", "provider", "request")
	serves := firstURNCase(t, "dispatch", func(c map[string]any) bool { return c["dispatchable"] == true })
	mustFail(t, "dispatch", "one that serves", []mutant{
		{".provider: another", with(serves, "provider", "cap:nothing-of-the-kind;in=media:strange;effect=patch")},
		{".request: another", with(serves, "request", "cap:nothing-of-the-kind;in=media:strange;effect=patch")},
		{".provider: no cap", with(serves, "provider", "media:")},
		{".request: no cap", with(serves, "request", "cap:a=")},
	})
}

func TestWrongConformsFail(t *testing.T) {
	mustFailEach(t, "media_conforms", "instance", "pattern")
	mustFail(t, "media_conforms", "made up", []mutant{
		{".pattern: more", map[string]any{"instance": "media:a", "pattern": "media:a;b", "conforms": true}},
		{".instance: more", map[string]any{"instance": "media:a;b", "pattern": "media:a", "conforms": false}},
		{".instance: a cap", map[string]any{"instance": "cap:a", "pattern": "media:", "conforms": true}},
		{".pattern: a cap", map[string]any{"instance": "media:a", "pattern": "cap:a", "conforms": false}},
	})
}

func TestWrongEquivalencesFail(t *testing.T) {
	mustFailEach(t, "cap_equivalent", "a", "b")
	mustFail(t, "cap_equivalent", "made up", []mutant{
		{".b: more", map[string]any{"a": "cap:x", "b": "cap:x;y", "equivalent": true}},
		{".a: more", map[string]any{"a": "cap:x;y", "b": "cap:x", "equivalent": true}},
		{".a: the same", map[string]any{"a": "cap:x;y", "b": "cap:y;x", "equivalent": false}},
		{".b: a media URN", map[string]any{"a": "cap:x", "b": "media:x", "equivalent": false}},
	})
}

func TestWrongRankingsFail(t *testing.T) {
	mustFailEach(t, "ranking", "request", "candidates", "preferred")
	preferred := 0
	for name, c := range vectorCases(t, "ranking") {
		all := []mutant{
			{".candidates: none", with(c, "candidates", []any{})},
			{".candidates: no caps", with(c, "candidates", []any{"media:a"})},
			{".preferred: no cap", with(c, "preferred", "media:a")},
			{".order: no number", with(c, "order", []any{"0"})},
			{".distances: no number", with(c, "distances", []any{nil})},
			{".chosen: of another kind", with(c, "chosen", "0")},
			{".chosen: below 0", with(c, "chosen", json.Number("-1"))},
		}
		order := c["order"].([]any)
		if len(order) == 0 {
			all = all[1:]
		}
		if c["chosen"] == nil {
			all = append(all, mutant{".chosen: the first", with(c, "chosen", json.Number("0"))})
		} else {
			all = append(all, mutant{".chosen: none", with(c, "chosen", nil)})
			if c["preferred"] != nil && c["chosen"] != order[0] {
				preferred++
				all = append(all, mutant{".preferred: left out", leftOut(c, "preferred")},
					mutant{".preferred: another", with(c, "preferred", "cap:nothing-of-the-kind;effect=patch")})
			}
		}
		if len(order) > 1 {
			candidates := slices.Clone(c["candidates"].([]any))
			best, _ := jsonInt(order[0])
			candidates = append(candidates, candidates[best])
			all = append(all, mutant{".candidates: the best again", with(c, "candidates", candidates)})
		}
		mustFail(t, "ranking", name, all)
	}
	if preferred == 0 {
		t.Error("in no case the preferred cap is another than the best")
	}
}

// The first statement of each section that is wrong, and what is said of it.
func TestURNFailuresSayWhere(t *testing.T) {
	for _, test := range []struct{ section, vector, want string }{
		{"parse", `{"kind": "cap", "input": "cap:b;a", "canonical": "cap:b;a", "specificity": 4, "in": "media:", "out": "media:", "effect": "declared"}`,
			`vectors: parse: case 0: canonical = "cap:a;b", want "cap:b;a"`},
		{"parse", `{"kind": "media", "input": "media:a", "canonical": "media:a", "specificity": 3}`,
			"vectors: parse: case 0: specificity = 2, want 3"},
		{"parse", `{"kind": "cap", "input": "cap:a;a", "error": "numeric_key"}`,
			"vectors: parse: case 0: Parse = duplicate_key, want numeric_key: "},
		{"parse", `{"kind": "media", "input": "media:a", "error": "empty"}`,
			"vectors: parse: case 0: ParseMedia accepts the text, want empty"},
		{"dispatch", `{"provider": "cap:x", "request": "cap:x", "dispatchable": false}`,
			"vectors: dispatch: case 0: Dispatchable = true, want false"},
		{"media_conforms", `{"instance": "media:x", "pattern": "media:", "conforms": false}`,
			"vectors: media_conforms: case 0: Conforms = true, want false"},
		{"cap_equivalent", `{"a": "cap:x", "b": "cap:x", "equivalent": false}`,
			"vectors: cap_equivalent: case 0: Equivalent = true, want false"},
		{"ranking", `{"name": "n", "request": "cap:x", "candidates": ["cap:x;y", "cap:x"], "order": [0, 1], "distances": [2, 0], "chosen": 0}`,
			"vectors: ranking: n: Rank = [1 0], want [0 1]"},
		{"ranking", `{"name": "n", "request": "cap:x", "candidates": ["cap:x"], "order": [0], "distances": [0], "chosen": null}`,
			"vectors: ranking: n: Find = 0, want none"},
	} {
		got := judge(t, test.section, json.RawMessage(test.vector)).Failures
		if len(got) == 0 || !strings.HasPrefix(got[0], test.want) {
			t.Errorf("Failures = %q, want first %q", got, test.want)
		}
	}
}
