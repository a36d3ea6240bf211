package admission_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/cosim-go/cosim/relay/admission"
	"github.com/cosim-go/cosim/relay/manifest"
)

const (
	capA = "cap:a;effect=none"
	capB = "cap:b;effect=none"
	capC = "cap:c;effect=none"
)

// bounds are what a pool is made of.
type bounds struct {
	n    uint64
	caps []string
}

func poolsOf(b map[string]bounds) manifest.Pools {
	p := manifest.Pools{}
	for name, b := range b {
		p[name] = manifest.PoolState{Declared: b.n, Configured: b.n, Caps: b.caps}
	}
	return p
}

// A crowd are requests that are made by name, each in a goroutine, of a controller.
type crowd struct {
	t       *testing.T
	c       *admission.Controller
	mu      sync.Mutex
	in      []string // who was let in, since want looked
	permits map[string]*admission.Permit
	errs    map[string]error
	cancel  map[string]context.CancelFunc
}

func newCrowd(t *testing.T, p manifest.Pools) *crowd {
	return &crowd{
		t: t, c: admission.New(p),
		permits: map[string]*admission.Permit{}, errs: map[string]error{}, cancel: map[string]context.CancelFunc{},
	}
}

func (w *crowd) ask(name, cap string) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	w.cancel[name] = cancel
	go func() {
		p, err := w.c.Acquire(ctx, cap)
		w.mu.Lock()
		defer w.mu.Unlock()
		if err != nil {
			w.errs[name] = err
			return
		}
		w.permits[name] = p
		w.in = append(w.in, name)
	}()
	synctest.Wait()
}

func (w *crowd) release(name string) {
	w.t.Helper()
	w.mu.Lock()
	p := w.permits[name]
	w.mu.Unlock()
	if p == nil {
		w.t.Fatalf("%s was not let in", name)
	}
	p.Release()
	synctest.Wait()
}

// want compares who was let in since the last call, in any order.
func (w *crowd) want(names ...string) {
	w.t.Helper()
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	slices.Sort(w.in)
	slices.Sort(names)
	if !slices.Equal(w.in, names) {
		w.t.Errorf("let in %q, want %q", w.in, names)
	}
	w.in = nil
}

func (w *crowd) wantErr(name string, want error) {
	w.t.Helper()
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.errs[name]; !errors.Is(err, want) {
		w.t.Errorf("%s got %v, want %v", name, err, want)
	}
}

func (w *crowd) wantNoErr() {
	w.t.Helper()
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.errs) > 0 {
		w.t.Errorf("errors %v, want none", w.errs)
	}
}
