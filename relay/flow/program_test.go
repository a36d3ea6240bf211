package flow

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// A program is bytes that say what a test does. After the last one there are zeros.
type program struct {
	code []byte
	at   int
}

func (p *program) byte() byte {
	p.at++
	if p.at > len(p.code) {
		return 0
	}
	return p.code[p.at-1]
}

func (p *program) done() bool { return p.at >= len(p.code) }

// random returns a source of random numbers. Its seed is in the log, and can be set with
// FLOW_SEED.
func random(t testing.TB) *rand.Rand {
	t.Helper()
	seed := rand.Uint64()
	if text, ok := os.LookupEnv("FLOW_SEED"); ok {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("FLOW_SEED: %v", err)
		}
	}
	t.Logf("FLOW_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

func randomCode(r *rand.Rand, n int) []byte {
	code := make([]byte, n)
	for i := range code {
		code[i] = byte(r.Uint32())
	}
	return code
}

// modelSteps is how many steps a random test takes in all.
func modelSteps() int {
	if testing.Short() {
		return 50_000
	}
	return 1_000_000
}
