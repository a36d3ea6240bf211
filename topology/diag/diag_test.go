package diag

import (
	"errors"
	"io/fs"
	"slices"
	"testing"
)

func TestPosString(t *testing.T) {
	tests := []struct {
		pos  Pos
		want string
	}{
		{Pos{"two.yaml", 12, 9}, "two.yaml:12:9"},
		{Pos{File: "two.yaml"}, "two.yaml"},
		{Pos{}, ""},
	}
	for _, tt := range tests {
		if got := tt.pos.String(); got != tt.want {
			t.Errorf("%#v.String() = %q, want %q", tt.pos, got, tt.want)
		}
		if got, want := tt.pos.IsZero(), tt.want == ""; got != want {
			t.Errorf("%#v.IsZero() = %v, want %v", tt.pos, got, want)
		}
	}
}

func TestPosCompareOrdersByFileLineColumn(t *testing.T) {
	want := []Pos{{}, {"a", 0, 0}, {"a", 2, 1}, {"a", 2, 10}, {"a", 10, 1}, {"b", 1, 1}}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, Pos.Compare)
	if !slices.Equal(got, want) {
		t.Errorf("sorted = %v, want %v", got, want)
	}
}

func TestSortedKeepsEachFindingOnce(t *testing.T) {
	at := func(line int) Pos { return Pos{"f.yaml", line, 1} }
	list := List{
		{Pos: at(2), Code: "b", Message: "second"},
		{Pos: at(1), Code: "a", Message: "first"},
		{Pos: at(2), Code: "a", Message: "second"},
		{Pos: at(1), Code: "a", Message: "first", Hint: "the same finding by another way"},
		{Pos: at(1), Code: "a", Message: "another"},
	}
	given := slices.Clone(list)
	var got []string
	for _, d := range list.Sorted() {
		got = append(got, d.Code+" "+d.Error()+d.Hint)
	}
	want := []string{"a f.yaml:1:1: another", "a f.yaml:1:1: first", "a f.yaml:2:1: second", "b f.yaml:2:1: second"}
	if !slices.Equal(got, want) {
		t.Errorf("Sorted() = %q, want %q", got, want)
	}
	for i := range list {
		if list[i].Error() != given[i].Error() || list[i].Code != given[i].Code {
			t.Fatalf("Sorted changed its receiver at %d", i)
		}
	}
}

func TestErrIsNilWithoutErrors(t *testing.T) {
	for _, l := range []List{nil, {}, {{Severity: Warning, Message: "old"}}} {
		if err := l.Err(); err != nil || l.HasErrors() {
			t.Errorf("%v.Err() = %v, HasErrors() = %v, want nil, false", l, err, l.HasErrors())
		}
	}
}

func TestErrTellsTheFirstErrorAndCountsTheOthers(t *testing.T) {
	warning := Diagnostic{Severity: Warning, Message: "old"}
	missing := Diagnostic{Pos: Pos{"a.yaml", 3, 5}, Message: "no such file", Err: fs.ErrNotExist}
	other := Diagnostic{Message: "other"}
	tests := []struct {
		list List
		want string
	}{
		{List{warning, missing}, "a.yaml:3:5: no such file"},
		{List{warning, missing, other, other}, "a.yaml:3:5: no such file (and 2 more)"},
		{List{other, warning}, "other"},
	}
	for _, tt := range tests {
		err := tt.list.Err()
		if err == nil || !tt.list.HasErrors() {
			t.Fatalf("%v.Err() = %v, want an error", tt.list, err)
		}
		if err.Error() != tt.want {
			t.Errorf("Err() = %q, want %q", err, tt.want)
		}
	}
	if err := tests[1].list.Err(); !errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrExist) {
		t.Error("errors.Is does not find the sentinel of a diagnostic")
	}
	var d Diagnostic
	if err := tests[0].list.Err(); !errors.As(err, &d) {
		t.Error("errors.As does not find a Diagnostic")
	}
}
