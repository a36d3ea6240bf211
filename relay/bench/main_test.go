package main

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestRunPrintsTablesAndLines(t *testing.T) {
	var out strings.Builder
	if err := run([]string{"-samples", "1", "-time", "1ms", "-only", "^encode/frame=END$"}, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"encode/frame=END\n", "memcpy", "relay : fxamacker-reused", "relay allocs/op"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in what was printed:\n%s", want, out.String())
		}
	}
}

func TestRunMeasuresWhatLiesAboveTheFramePath(t *testing.T) {
	var out strings.Builder
	if err := run([]string{"-samples", "1", "-time", "1ms", "-only", "in-flight=1$|^stream/"}, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"switch/masters=1/in-flight=1\n", "relay : raw", "stream/payload=256KiB\n", "relay : copy that hashes"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in what was printed:\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "lookup") || strings.Contains(out.String(), "hop") {
		t.Errorf("more than what was asked for:\n%s", out.String())
	}
}

func TestRunWritesJSON(t *testing.T) {
	var out strings.Builder
	if err := run([]string{"-samples", "1", "-time", "1ms", "-only", "^hop/payload=64B$", "-json"}, &out); err != nil {
		t.Fatal(err)
	}
	var got report
	if err := json.Unmarshal([]byte(out.String()), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Comparisons) != 1 || len(got.Lines) == 0 {
		t.Fatalf("%d comparisons and %d lines, want 1 and some", len(got.Comparisons), len(got.Lines))
	}
	if r, ok := got.Comparisons[0].Result("relay"); !ok || r.Ns <= 0 {
		t.Errorf("the relay's result is %+v", r)
	}
}

func TestRunRefusesWhatItDoesNotKnow(t *testing.T) {
	for _, args := range [][]string{{"-only", "("}, {"hop"}} {
		if err := run(args, &strings.Builder{}); err == nil {
			t.Errorf("run(%q) succeeded", args)
		}
	}
}
