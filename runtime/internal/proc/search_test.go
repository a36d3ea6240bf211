package proc

import (
	"os/exec"
	"slices"
	"testing"
)

func TestSearch(t *testing.T) {
	cmd := exec.Command("/bin/sleep", "1000")
	cmd.Env = []string{"COSIM_TEST=" + t.TempDir(), "LABEL=it"}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	id, err := Lookup(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	mark := Search{Name: "COSIM_TEST", Value: cmd.Env[0][len("COSIM_TEST="):], Label: "LABEL", Since: id.StartTime}
	older, spared, other := mark, mark, mark
	older.Since++
	spared.Spared = map[int]bool{id.PID: true}
	other.Value += "x"
	for name, s := range map[string]Search{"started before": older, "spared": spared, "another mark": other} {
		killed, left, err := s.Kill(t.Context(), 0, func(error) bool { return false })
		if err != nil || len(killed)+len(left) > 0 || !id.Alive() {
			t.Errorf("%s: Kill = %v, %v, %v, want nothing", name, killed, left, err)
		}
	}
	asked := 0
	want := []Marked{{id, "it"}}
	killed, left, err := mark.Kill(t.Context(), 0, func(error) bool { asked++; return false })
	if err != nil || asked != 1 || !slices.Equal(killed, want) || !slices.Equal(left, want) {
		t.Errorf("Kill = %v, %v, %v after %d questions, want %v found and killed in one round", killed, left, err, asked, want)
	}
	killed, left, err = mark.Kill(t.Context(), 0, func(error) bool { return true })
	if err != nil || len(left) > 0 || id.Alive() {
		t.Errorf("Kill = %v, %v, %v, want none left", killed, left, err)
	}
}
