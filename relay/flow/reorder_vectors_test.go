package flow

import (
	"encoding/json"
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/cosim-go/cosim/relay/frame"
)

// A script is one of testdata/reorder.json, which says what its fields mean.
type script struct {
	Name  string
	Max   int `json:"max_buffer_per_flow"`
	Steps []scriptStep
}

type scriptStep struct {
	Op       string
	RID, XID json.RawMessage
	Type     string
	Seq      uint64
	Error    string
	Deliver  []delivery
}

type delivery struct {
	Type string
	Seq  uint64
}

func readScripts(t testing.TB) []script {
	t.Helper()
	text, err := os.ReadFile("testdata/reorder.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Scripts []script }
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Scripts) == 0 {
		t.Fatal("no scripts")
	}
	return file.Scripts
}

func (s scriptStep) key() Key { return Key{scriptID(s.RID), scriptID(s.XID)} }

// scriptID reads a number; no id is written as nothing.
func scriptID(raw json.RawMessage) frame.ID {
	if raw == nil {
		return frame.ID{}
	}
	id, err := frame.ParseID(string(raw))
	if err != nil {
		panic(err)
	}
	return id
}

func (s scriptStep) frameType() frame.Type {
	t, ok := frame.ParseType(s.Type)
	if !ok {
		panic("unknown type " + s.Type)
	}
	return t
}

var scriptErrors = map[string]error{"": nil, "stale": ErrStale, "duplicate": ErrDuplicate, "overflow": ErrOverflow}

// Requirements: S2, M3
func TestReorderVectors(t *testing.T) {
	for _, script := range readScripts(t) {
		t.Run(script.Name, func(t *testing.T) {
			b := NewReorderBuffer(script.Max, nil)
			for i, step := range script.Steps {
				if step.Op == "cleanup" {
					b.Cleanup(step.key())
					continue
				}
				if step.Op != "accept" {
					t.Fatalf("step %d: unknown op %q", i, step.Op)
				}
				want, known := scriptErrors[step.Error]
				if !known {
					t.Fatalf("step %d: unknown error %q", i, step.Error)
				}
				got, err := offer(b, step)
				if !errors.Is(err, want) || want == nil && err != nil || want != nil && frame.KindOf(err) != frame.ErrProtocol {
					t.Fatalf("step %d: Accept = %v, want %v", i, err, want)
				}
				if !slices.Equal(got, step.Deliver) {
					t.Fatalf("step %d: delivered %v, want %v", i, got, step.Deliver)
				}
			}
		})
	}
}

// offer offers the frame of a step and returns what is delivered.
func offer(b *ReorderBuffer, step scriptStep) (got []delivery, err error) {
	k := step.key()
	h := frame.Head{Type: step.frameType(), ID: k.RID, RoutingID: k.XID, Seq: step.Seq}
	ok, err := b.Accept(&h, nil)
	for ; ok; h, _, ok = b.Release() {
		got = append(got, delivery{h.Type.String(), h.Seq})
	}
	return got, err
}
