package supervise

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/cosim-go/cosim/runtime/plan"
)

// A log of any length, written in pieces of any size, keeps its start and its end.
func TestLogFileKeepsStartAndEnd(t *testing.T) {
	const keep = 100
	random := rand.New(rand.NewPCG(1, 2))
	for _, total := range []int{0, 1, 99, 100, 101, 199, 200, 200 + int(lostLen), 201 + int(lostLen), 299, 300, 301, 500, 5000} {
		file, err := os.OpenFile(filepath.Join(t.TempDir(), "log"), os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		written := make([]byte, total)
		for i := range written {
			written[i] = byte('a' + random.IntN(26))
		}
		l := logFile{file: file, keep: keep}
		for rest := written; len(rest) > 0; {
			n := 1 + random.IntN(min(len(rest), 150))
			if got, err := l.Write(rest[:n]); got != n || err != nil {
				t.Fatalf("Write(%d bytes) = %d, %v", n, got, err)
			}
			rest = rest[n:]
			if l.size > 3*keep+lostLen {
				t.Errorf("after %d of %d bytes the file has %d", total-len(rest), total, l.size)
			}
		}
		if err := l.finish(); err != nil {
			t.Fatal(err)
		}
		got, _ := os.ReadFile(file.Name())
		want := written
		if lost := total - 2*keep; lost > int(lostLen) {
			want = fmt.Appendf(bytes.Clone(written[:keep]), lostFormat, lost)
			want = append(want, written[total-keep:]...)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("log of %d bytes = %q, want %q", total, got, want)
		}
		file.Close()
	}
}

// A log that cannot be written does not stop who writes to it.
func TestLogFileOnAFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	l := logFile{file: full, keep: 100}
	if n, err := l.Write(make([]byte, 1000)); n != 1000 || err != nil {
		t.Errorf("Write() = %d, %v, want 1000, nil", n, err)
	}
	if l.finish() == nil {
		t.Error("finish() = nil, want the error of writing")
	}
}

// A process that floods its log neither fills the disk nor is held up, and the lines are
// matched all the same.
func TestFloodedLog(t *testing.T) {
	s := newStage(t)
	v := s.vhost("m", "seq -f %0100.0f 450000; echo PASS; seq 3") // 45 MB
	v.Expect = &plan.Expect{Log: v.Log, Pass: "^PASS$"}
	if err := s.run(context.Background()).Err(); err != nil {
		t.Fatal(err)
	}
	log := s.log(v)
	if n := int64(len(log)); n != 2*logKeep+lostLen {
		t.Errorf("the log has %d bytes, want %d", n, 2*logKeep+lostLen)
	}
	first, last := fmt.Sprintf("%0100d\n%0100d\n", 1, 2), fmt.Sprintf("\n%0100d\nPASS\n1\n2\n3\n", 450000)
	if !strings.HasPrefix(log, first) || !strings.HasSuffix(log, last) || !strings.Contains(log, "bytes are left out here]\n") {
		t.Errorf("the log is %q … %q", log[:210], log[len(log)-210:])
	}
}

func TestSplitter(t *testing.T) {
	long := strings.Repeat("x", lineKeep+100)
	input := "one\ntwo\r\n\r\n\nthree\r\r\n" + long + "\nfour\rfive\n" + long + "six"
	want := []string{"one", "two", "", "", "three", long[:lineKeep], "four\rfive", long[:lineKeep]}
	for _, size := range []int{1, 2, 3, 1000, lineKeep, len(input)} {
		var got []string
		s := &splitter{line: func(line []byte) { got = append(got, string(line)) }}
		for rest := input; rest != ""; rest = rest[min(size, len(rest)):] {
			s.Write([]byte(rest[:min(size, len(rest))]))
		}
		s.flush()
		s.flush()
		if !reflect.DeepEqual(got, want) {
			t.Errorf("in pieces of %d: %d lines, %.50q…, want %d", size, len(got), got, len(want))
		}
	}
}

func TestTailOf(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	var text strings.Builder
	for i := range 10000 {
		fmt.Fprintf(&text, "line %d\n\n", i)
	}
	text.WriteString("\x1b[2Jred\ttext\xff \r\n" + strings.Repeat("y", 600))
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	got := tailOf(path)
	if len(got) != lastLines || got[7] != "line 9999" || got[8] != "[2Jred text\uFFFD" || got[9] != strings.Repeat("y", shownLineLen)+"…" {
		t.Errorf("tailOf() = %q", got)
	}
	if got := tailOf(path + ".none"); got != nil {
		t.Errorf("tailOf of no file = %q", got)
	}
}

// The verdict is the guest's, whatever the line's end; and what is read last counts.
//
// Requirement: X5.
func TestVerdicts(t *testing.T) {
	tests := []struct {
		name, prints string // by printf
		reason       Reason
		verdict      []string
	}{
		{"pass", `PASS: dma\n`, "", []string{"PASS: dma"}},
		{"carriage return", `PASS: dma\r\n`, "", []string{"PASS: dma"}},
		{"no end of the line", `boot\nPASS: dma`, "", []string{"PASS: dma"}},
		{"several", `PASS: a\nnoise\nPASS: b\n`, "", []string{"PASS: a", "PASS: b"}},
		{"not at the start", `xPASS\n`, NoVerdict, []string{}},
		{"nothing", ``, NoVerdict, []string{}},
		{"fail after pass", `PASS: a\nFAIL: b\nPASS: c\n`, BadVerdict, []string{"PASS: a", "FAIL: b"}},
		{"fail without end", `FAIL: b`, BadVerdict, []string{"FAIL: b"}},
	}
	for _, tt := range tests {
		for _, where := range []string{"serial.log", "m-vhost.log"} {
			t.Run(tt.name+" in "+where, func(t *testing.T) {
				t.Parallel()
				s := newStage(t)
				v := s.vhost("m", "printf '"+tt.prints+"'")
				if where == "serial.log" {
					// An old verdict must not count.
					os.WriteFile(s.path(where), []byte("PASS: old\n"), 0o600)
					v.Args[1] += " >" + where
				}
				v.Expect = &plan.Expect{Log: s.path(where), Pass: "^PASS", Fail: "^FAIL"}
				result := s.run(context.Background())
				if f := result.First; (f == nil) != (tt.reason == "") || f != nil && f.Reason != tt.reason {
					t.Errorf("First = %+v, want reason %q", f, tt.reason)
				}
				if got := s.state(result, v).Verdict; tt.reason != BadVerdict && !reflect.DeepEqual(got, tt.verdict) {
					t.Errorf("Verdict = %q, want %q", got, tt.verdict)
				}
				if f := result.First; tt.reason == BadVerdict && f != nil && f.Verdict[len(f.Verdict)-1] != "FAIL: b" {
					t.Errorf("First.Verdict = %q", f.Verdict)
				}
			})
		}
	}
}

// A fail line ends the session while its vhost would go on, and outdoes the status of
// one that ends because of it.
func TestFailLineEndsTheSession(t *testing.T) {
	for _, after := range []string{"exec sleep 1000", "exit 1"} {
		for _, log := range []string{"serial.log", "m-vhost.log"} {
			t.Run(log+" then "+after, func(t *testing.T) {
				t.Parallel()
				s := newStage(t)
				v := s.vhost("m", "echo FAIL: no device; "+after)
				if log == "serial.log" {
					v.Args[1] = "echo FAIL: no device >serial.log; " + after
				}
				v.Expect = &plan.Expect{Log: s.path(log), Fail: "^FAIL"}
				result := s.run(context.Background())
				if got, want := s.message(result), `vhost of machine "m" (test-vhost) reported failure: "FAIL: no device"`; got != want {
					t.Errorf("message = %s, want %s", got, want)
				}
			})
		}
	}
}

// A vhost whose verdict passed goes on until it ends by itself.
func TestPassDoesNotEndTheSession(t *testing.T) {
	s := newStage(t)
	s.gate("go")
	v := s.vhost("m", "echo PASS; read x <go; echo still here")
	v.Expect = &plan.Expect{Log: v.Log, Pass: "^PASS"}
	opened := false
	s.opts.Events = func(e Event) {
		s.event(e)
		if len(e.Process.Verdict) > 0 && !opened {
			opened = true
			s.open("go")
		}
	}
	if err := s.run(context.Background()).Err(); err != nil {
		t.Error(err)
	}
	if got := s.log(v); got != "PASS\nstill here\n" {
		t.Errorf("log = %q", got)
	}
}
