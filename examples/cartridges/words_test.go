package cartridges

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/frame"
)

// counted is what words says of a text.
func counted(text []byte) string {
	return fmt.Sprintf("%d lines, %d words, %d bytes\n", bytes.Count(text, []byte("\n")), len(bytes.Fields(text)), len(text))
}

// Where the cartridge is that restores makes no difference to the one that asks it.
func TestWordsAskAnother(t *testing.T) {
	for name, hosts := range map[string][][]string{
		"on one host":        {{"words", "compress"}},
		"in the other order": {{"compress", "words"}},
		"across two hosts":   {{"words"}, {"compress"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, hosts...)
			for _, size := range sizes[:3] {
				text := prose(size)
				if got, want := string(r.must(wordsCap, gzMedia, gz(text))), counted(text); got != want {
					t.Errorf("words of %d bytes = %q, want %q", size, got, want)
				}
			}
			_, err := r.ask(wordsCap, gzMedia, prose(1<<16))
			if !fails(err, call.Error{Code: "BAD_GZIP", Attribution: frame.AttributionInput, ArgURN: gzMedia}) {
				t.Errorf("words of what is no gzip: %v", err)
			}
		})
	}
}

func TestWordsWithoutWhoRestores(t *testing.T) {
	r := newRig(t, []string{"words"}, []string{"hash"})
	_, err := r.ask(wordsCap, gzMedia, gz(prose(1<<20)))
	if !fails(err, call.Error{Code: "NO_HANDLER", Attribution: frame.AttributionEnvironment}) {
		t.Errorf("words without a cartridge that restores: %v", err)
	}
}
