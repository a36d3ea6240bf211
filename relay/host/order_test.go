package host

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
)

// An order refuses what a reorder buffer does, and says that a flow is over when that has let its end go.
func TestOrderIsThatOfAReorderBuffer(t *testing.T) {
	const max = 4
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		o, buffer := &order{}, flow.NewReorderBuffer(max, nil)
		size := 1 + rnd.IntN(12)
		numbers := make([]uint64, size)
		for i := range numbers {
			numbers[i] = uint64(i)
		}
		rnd.Shuffle(size, func(i, j int) {
			if j-i < max && i-j < max {
				numbers[i], numbers[j] = numbers[j], numbers[i]
			}
		})
		if rnd.IntN(4) == 0 {
			numbers = append(numbers, numbers[rnd.IntN(size)])
		}
		over := false
		for _, n := range numbers {
			head := frame.Head{Type: frame.TypeLog, ID: frame.Number(1), Seq: n}
			if n == uint64(size-1) {
				head.Type = frame.TypeEnd
			}
			ready, err := buffer.Accept(&head, make([]byte, 8))
			for ready && err == nil {
				over = over || head.Type.Terminal()
				if !buffer.Due() {
					break
				}
				head, _, ready = buffer.Release()
			}
			require.Equal(t, err == nil, o.take(&frame.Head{Type: typeOf(n, size), ID: frame.Number(1), Seq: n}, max) == nil, "%v at %d: %v", numbers, n, err)
			if err != nil {
				break
			}
			require.Equal(t, over, o.over(), "%v at %d", numbers, n)
		}
	}
}

func typeOf(n uint64, size int) frame.Type {
	if n == uint64(size-1) {
		return frame.TypeEnd
	}
	return frame.TypeLog
}

// The end of a cartridge that has left a gap takes the place of what is missing.
func TestDueNumber(t *testing.T) {
	tables := newTables()
	k := flow.Key{RID: frame.Number(1)}
	require.Equal(t, uint64(0), tables.dueNumber(k))
	o := tables.orderOf(k, nil)
	for _, n := range []uint64{0, 1, 3} {
		require.NoError(t, o.take(&frame.Head{Type: frame.TypeLog, Seq: n}, 64))
	}
	require.Equal(t, uint64(2), tables.dueNumber(k))
	require.Equal(t, uint64(0), tables.dueNumber(k), "the flow is forgotten")
}

func TestStderrTail(t *testing.T) {
	var logged []string
	write := func(pieces ...string) *stderr {
		logged = nil
		s := newStderr(func(line []byte) { logged = append(logged, string(line)) })
		for _, p := range pieces {
			s.Write([]byte(p))
		}
		s.end()
		return s
	}
	require.Equal(t, "", write().tail())
	require.Equal(t, "one\ntwo", write("o", "ne\ntw", "o").tail())
	require.Equal(t, []string{"one", "two"}, logged)
	full := strings.Repeat("x", stderrKept)
	require.Equal(t, full, write(full).tail())
	require.Equal(t, truncated+full, write("y", full).tail())
	require.Equal(t, truncated+full, write("y"+full).tail())
	require.Equal(t, truncated+full, write(strings.Repeat(full, 5)).tail())
	require.Equal(t, truncated+full[1:]+"z", write(full, full, "z").tail())
	require.Equal(t, "\uFFFD!", write("\xff!").tail())

	long := strings.Repeat("l", 3*lineKept)
	write(long[:lineKept-1], long[:2], long, "\nnext\n\n", "last")
	require.Equal(t, []string{long[:lineKept], "next", "last"}, logged)
}

func TestExitSays(t *testing.T) {
	for want, e := range map[string]Exit{
		"exited with status 0":        {},
		"was ended by signal SIGSEGV": {ExitState: ExitState{Status: -1, Signal: "SIGSEGV"}},
		"ended":                       {ExitState: ExitState{Status: -1}},
		"exited with status 3; last lines of its stderr: oh": {ExitState: ExitState{Status: 3}, Stderr: "oh\n"},
		"ended: " + frame.ErrIO.Error():                      {Err: frame.ErrIO},
	} {
		require.Equal(t, want, e.String())
	}
}
