package flow

import (
	"slices"
	"testing"
)

// FuzzReorder runs programs over a buffer and its twin. Its seeds are the scripts of
// testdata/reorder.json.
func FuzzReorder(f *testing.F) {
	for _, script := range readScripts(f) {
		f.Add(script.program())
	}
	f.Fuzz(func(t *testing.T, code []byte) {
		if _, err := runReorder(code); err != nil {
			t.Error(err)
		}
	})
}

// program returns the script as a program, as far as that can say it.
func (s script) program() []byte {
	code := []byte{byte(s.Max), 17, 255}
	var keys []Key
	for _, step := range s.Steps {
		key := step.key()
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
		place := byte(slices.Index(keys, key))
		if step.Op == "cleanup" {
			code = append(code, doCleanup, place, 0)
			continue
		}
		kind := byte(slices.Index(modelTypes[:], step.frameType()))
		code = append(code, kind<<3, place|absoluteSeq|keepEnded, byte(step.Seq))
	}
	return code
}
