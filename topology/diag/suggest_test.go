package diag

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestSuggest(t *testing.T) {
	fields := []string{"id", "use", "count", "vhost", "devices", "placement", "memory", "size", "align", "max_devices", "gem5-mi300x", "qemu-device"}
	tests := []struct{ name, want string }{
		{"memroy", "memory"}, // swapped
		{"memry", "memory"},  // dropped
		{"memorry", "memory"},
		{"nemory", "memory"},
		{"sizee", "size"},
		{"di", "id"},
		{"us", "use"},
		{"Memory", "memory"},
		{"ID", "id"},
		{"maxDevices", "max_devices"},
		{"max-devices", "max_devices"},
		{"gem5-mi300", "gem5-mi300x"},
		{"gem5_mi300x", "gem5-mi300x"},
		{"qemu-vhost", ""}, // a word of its own
		{"mem", ""},
		{"storage", ""},
		{"x", ""},
		{"", ""},
		{"memory", ""}, // valid as it is
		{"größe", ""},
	}
	for _, tt := range tests {
		if got := Suggest(tt.name, fields); got != tt.want {
			t.Errorf("Suggest(%q) = %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestSuggestNeedsACharacterInCommon(t *testing.T) {
	for name, valid := range map[string]string{"a": "b", "x": "id", "ab": "cd"} {
		if got := Suggest(name, []string{valid}); got != "" {
			t.Errorf("Suggest(%q) = %q, want none", name, got)
		}
	}
}

func TestSuggestPrefersCaseAlone(t *testing.T) {
	valid := []string{"gpu1", "GPU0", "gpu2"}
	if got := Suggest("gpu0", valid); got != "GPU0" {
		t.Errorf("Suggest = %q, want the name that differs in case alone", got)
	}
}

func TestSuggestFoldsCaseInOtherScripts(t *testing.T) {
	if got := Suggest("GRÖSSE", []string{"grösse"}); got != "grösse" {
		t.Errorf("Suggest = %q, want %q", got, "grösse")
	}
}

func TestSuggestCountsCharactersNotBytes(t *testing.T) {
	// Two characters of four differ, which are four bytes of eight.
	if got := Suggest("äöüß", []string{"äöab"}); got != "" {
		t.Errorf("Suggest = %q, want none", got)
	}
	if got := Suggest("äöüß", []string{"äöüx"}); got != "äöüx" {
		t.Errorf("Suggest = %q, want one character changed to be close", got)
	}
}

func TestSuggestIgnoresTheOrderOfNames(t *testing.T) {
	valid := []string{"bar0", "bar1", "bar2", "BAR3", "Bar3", "barn", "car9"}
	names := []string{"bar", "bar9", "bar3", "barr", "car0"}
	random := rand.New(rand.NewPCG(1, 2))
	for _, name := range names {
		want := Suggest(name, valid)
		if want == "" {
			t.Errorf("Suggest(%q) is empty, the case shows nothing", name)
		}
		for range 20 {
			random.Shuffle(len(valid), func(i, j int) { valid[i], valid[j] = valid[j], valid[i] })
			if got := Suggest(name, valid); got != want {
				t.Errorf("Suggest(%q, %q) = %q, in another order %q", name, valid, got, want)
			}
		}
	}
}

func TestSuggestLeavesLongNamesAlone(t *testing.T) {
	long := strings.Repeat("a", 1<<20)
	if got := Suggest(long, []string{"memory", long[1:], long + "b"}); got != "" {
		t.Errorf("Suggest(a megabyte) = %.20q..., want none", got)
	}
}

func FuzzSuggest(f *testing.F) {
	f.Add("memroy", "memory", "size")
	f.Add("\xff\x00", "a\u0301", "")
	f.Fuzz(func(t *testing.T, name, a, b string) {
		valid := []string{a, b}
		got := Suggest(name, valid)
		if got != "" && !slices.Contains(valid, got) {
			t.Fatalf("Suggest(%q, %q) = %q, not a valid name", name, valid, got)
		}
		if got != "" && got == name {
			t.Fatalf("Suggest(%q) suggests the name itself", name)
		}
		if other := Suggest(name, []string{b, a}); other != got {
			t.Fatalf("Suggest(%q, %q) = %q, in another order %q", name, valid, got, other)
		}
	})
}
