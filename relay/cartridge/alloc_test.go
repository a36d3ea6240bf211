package cartridge_test

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/cartridge"
	"github.com/cosim-go/cosim/relay/frame"
)

// A short request costs a bounded number of allocations, at both of its ends together, and a CHUNK none.
func TestAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates on its own account")
	}
	c := cartridge.New("demo", "1", nil)
	c.Handle(testCap, "Test", short)
	h := serve(t, c, frame.DefaultLimits())
	ping := []byte("ping")
	allocs := testing.AllocsPerRun(200, func() {
		if _, err := call.Do(t.Context(), h, testCap, call.Bytes("media:", ping)); err != nil {
			t.Error(err)
		}
	})
	const most = 80 // of which seven are those of the test's own host
	if allocs > most {
		t.Errorf("a request takes %v allocations, want %d at most", allocs, most)
	}

	stream := func(chunks int64) func() {
		return func() {
			body := io.LimitReader(zeros{}, chunks*1000)
			c, err := call.Start(t.Context(), h, call.Request{Cap: echoCap}, call.Arg{Body: pieces{body}})
			require.NoError(t, err)
			defer c.Close()
			for err == nil {
				_, err = c.Next(t.Context())
			}
			require.Equal(t, io.EOF, err)
		}
	}
	few, many := testing.AllocsPerRun(10, stream(100)), testing.AllocsPerRun(10, stream(2100))
	if per := (many - few) / 2000; per > 0.25 { // those who wait for credit, or for a reader
		t.Errorf("a CHUNK takes %v allocations there and back", per)
	}
}

// Pieces are what makes one CHUNK each.
type pieces struct{ io.Reader }

func (p pieces) Read(b []byte) (int, error) { return p.Reader.Read(b[:1000]) }
