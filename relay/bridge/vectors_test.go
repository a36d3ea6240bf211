package bridge_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/cosim-go/cosim/relay/bridge"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/relaytest"
)

// vectors is what is needed here of the file of golden frames.
type vectors struct {
	Valid, Provisional []struct {
		Name string
		Hex  hexBytes
	}
	Invalid []struct {
		Name, Class string
		Hex         hexBytes
	}
	Streams []struct {
		Name     string
		MaxFrame int `json:"max_frame"`
		Outcomes []string
		Hex      hexBytes
	}
}

type hexBytes []byte

func (h *hexBytes) UnmarshalText(text []byte) (err error) {
	*h, err = hex.DecodeString(string(text))
	return err
}

func loadVectors(t testing.TB) *vectors {
	t.Helper()
	text, err := os.ReadFile("../frame/testdata/frames.json")
	if err != nil {
		t.Fatal(err)
	}
	v := new(vectors)
	if err := json.Unmarshal(text, v); err != nil {
		t.Fatal(err)
	}
	if len(v.Valid) == 0 || len(v.Provisional) == 0 || len(v.Invalid) == 0 || len(v.Streams) == 0 {
		t.Fatal("a section without cases")
	}
	return v
}

// Requirement: R2
func TestWhatIsNoFrameEndsASlaveAndDoesNotGoOn(t *testing.T) {
	before := wire(t, req(0))
	for _, v := range loadVectors(t).Invalid {
		t.Run(v.Name, func(t *testing.T) {
			bothWays(t, func(t *testing.T, s *span, from, to relaytest.Conn) {
				write(t, from, before)
				expect(t, to, before)
				write(t, from, append(prefixed(v.Hex), wire(t, chunk(1, 9))...))
				if err := s.wait(); frame.KindOf(err) != frame.Kind(v.Class) {
					t.Errorf("Run = %v of kind %q, want kind %q", err, frame.KindOf(err), v.Class)
				}
				expectNothing(t, to)
			})
		})
	}
}

func TestWhatIsNoFrameEndsAMaster(t *testing.T) {
	for _, v := range loadVectors(t).Invalid {
		t.Run(v.Name, func(t *testing.T) {
			m, far := connect(t, nil)
			write(t, far, append(append(wire(t, req(0)), prefixed(v.Hex)...), wire(t, chunk(1, 9))...))
			expectFrame(t, m, req(0))
			for range 2 {
				if f, err := m.ReadFrame(); frame.KindOf(err) != frame.Kind(v.Class) {
					t.Errorf("ReadFrame = %v, %v of kind %q, want kind %q", f, err, frame.KindOf(err), v.Class)
				}
			}
			expectNothing(t, far)
		})
	}
}

func TestWhatIsNoFrameFailsConnect(t *testing.T) {
	for _, v := range loadVectors(t).Invalid {
		link, far := socketPair(t)
		write(t, far, append(prefixed(v.Hex), wire(t, notify(t, "{}"))...))
		_, err := bridge.Connect(context.Background(), link, nil)
		if frame.KindOf(err) != frame.Kind(v.Class) {
			t.Errorf("%s: Connect = %v of kind %q, want kind %q", v.Name, err, frame.KindOf(err), v.Class)
		}
		expectNothing(t, far)
		far.Close()
	}
}

// The streams of the golden file end within frames, go beyond limits, or end well.
func TestStreamsEndASlaveAsTheyShould(t *testing.T) {
	for _, v := range loadVectors(t).Streams {
		for _, w := range ways {
			t.Run(v.Name+" "+w.name, func(t *testing.T) {
				s := start(t, &bridge.SlaveOptions{MaxFrame: v.MaxFrame}, nil)
				write(t, w.from(s), v.Hex)
				w.from(s).CloseWrite()
				class, failed := strings.CutPrefix(v.Outcomes[len(v.Outcomes)-1], "error:")
				if !failed {
					io.Copy(io.Discard, w.to(s))
					s.closeAll()
					class = ""
				}
				if err := s.wait(); frame.KindOf(err) != frame.Kind(class) || (err != nil) != failed {
					t.Errorf("Run = %v of kind %q, want %q", err, frame.KindOf(err), class)
				}
			})
		}
	}
}
