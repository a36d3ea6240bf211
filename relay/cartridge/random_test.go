package cartridge_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fxamacker/cbor/v2"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/cartridge"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/internal/pipe"
)

var rounds = flag.Int("rounds", 60, "random rounds of TestRandomStreams")

// Streams of all kinds both ways, through small windows, with slow ends on both sides, with peer calls that come back, and
// with cancels: what comes is what was sent, or the request has ended with an error; nobody waits for ever, and nobody is
// left. A bubble finds a deadlock by itself.
func TestRandomStreams(t *testing.T) {
	for round := range *rounds {
		seed := uint64(round)
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { randomStreams(t, seed) })
		})
	}
}

// A pacer makes the ends of a stream slow, each in its own way.
type pacer struct {
	mu  sync.Mutex
	rng *rand.Rand
}

func (p *pacer) n(n int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.rng.IntN(n)
}

// pause waits now and then.
func (p *pacer) pause() {
	if p.n(4) == 0 {
		time.Sleep(time.Duration(p.n(50)) * time.Millisecond)
	}
}

func (p *pacer) size() int { return p.n(1 << p.n(17)) }

func randomStreams(t *testing.T, seed uint64) {
	p := &pacer{rng: rand.New(rand.NewPCG(seed, 1))}
	limits := frame.DefaultLimits()
	limits.InitialCredit = uint64(1 + p.n(32))
	limits.MaxChunk = uint64([]int{1 + p.n(300), 5000, 262144}[p.n(3)])
	c := cartridge.New("random", "1", nil)
	for name, h := range p.handlers() {
		c.Handle("cap:"+name, name, h)
	}
	near, far := pipe.New(1 + p.n(1<<17))
	served := make(chan error, 1)
	go func() { served <- c.Serve(context.Background(), far) }()
	h := newLoopback(t, near, limits)

	var all sync.WaitGroup
	for range 1 + p.n(8) {
		all.Go(func() { p.request(t, h) })
	}
	all.Wait()
	time.Sleep(time.Minute) // what is slow may end: a Read that waits outlives its call
	h.mu.Lock()
	if len(h.links) > 0 || len(h.peers) > 0 || h.lost > 0 {
		t.Errorf("%d requests and %d peer calls are left, %d frames were for nobody", len(h.links), len(h.peers), h.lost)
	}
	h.mu.Unlock()
	h.Close()
	if err := <-served; err != nil {
		t.Error("Serve: ", err)
	}
}

// handlers answer with what their arguments hold, one behind the other.
func (p *pacer) handlers() map[string]cartridge.Handler {
	return map[string]cartridge.Handler{
		"copy":    p.copy,
		"collect": p.collect,
		"beside":  p.beside,
		"items":   p.items,
		"peer":    p.peer,
		"fail":    p.fail,
	}
}

// copy writes while it reads.
func (p *pacer) copy(_ context.Context, r *cartridge.Request) error {
	out := r.Output("media:", &cartridge.OutputOptions{Unbounded: p.n(8) == 0})
	for in, err := range r.Args() {
		if err != nil {
			return err
		}
		if p.n(2) == 0 {
			_, err = io.Copy(out, in)
		} else {
			_, err = io.CopyBuffer(struct{ io.Writer }{out}, slowReader{in, p}, make([]byte, 1+p.size()))
		}
		if err != nil {
			return err
		}
		r.Progress(0.5, "an argument")
	}
	return nil
}

// collect reads everything first.
func (p *pacer) collect(_ context.Context, r *cartridge.Request) error {
	var all []byte
	for in, err := range r.Args() {
		if err != nil {
			return err
		}
		data, err := io.ReadAll(in)
		if err != nil {
			return err
		}
		all = append(all, data...)
	}
	p.pause()
	_, err := r.Output("media:", nil).Write(all)
	return err
}

// beside reads in one goroutine and writes in another.
func (p *pacer) beside(ctx context.Context, r *cartridge.Request) error {
	pieces, read := make(chan []byte), make(chan error, 1)
	go func() {
		defer close(pieces)
		buf := make([]byte, 1+p.size())
		for in, err := range r.Args() {
			for err == nil {
				var n int
				n, err = in.Read(buf)
				select {
				case pieces <- bytes.Clone(buf[:n]):
				case <-ctx.Done():
					err = context.Cause(ctx)
				}
			}
			if err != io.EOF {
				read <- err
				return
			}
		}
		read <- nil
	}()
	out := r.Output("media:", nil)
	for piece := range pieces {
		p.pause()
		if _, err := out.Write(piece); err != nil {
			for range pieces {
			}
			return errors.Join(err, <-read)
		}
	}
	return <-read
}

// items answers with a sequence.
func (p *pacer) items(_ context.Context, r *cartridge.Request) error {
	out := r.Output("media:", &cartridge.OutputOptions{Sequence: true})
	for in, err := range r.Args() {
		if err != nil {
			return err
		}
		for item, err := range in.Items() {
			if err != nil {
				return err
			}
			p.pause()
			if err := out.WriteItem(item); err != nil {
				return err
			}
		}
	}
	return nil
}

// peer asks another handler, which the same cartridge has.
func (p *pacer) peer(ctx context.Context, r *cartridge.Request) error {
	in, err := r.Next()
	if err == io.EOF {
		return nil
	}
	if err != nil {
		return err
	}
	other := []string{"copy", "collect", "beside", "peer"}[p.n(4)]
	body := io.MultiReader(in, restOf{r})
	c, err := call.Start(ctx, r, call.Request{Cap: "cap:" + other}, call.Arg{Media: "media:", Body: body})
	if err != nil {
		return err
	}
	defer c.Close()
	out := r.Output("media:", nil)
	for {
		switch e, err := c.Next(ctx); {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case e.Kind == call.EventData:
			p.pause()
			if _, err := out.Write(e.Data); err != nil {
				return err
			}
		}
	}
}

// restOf reads all further arguments of a request.
type restOf struct{ r *cartridge.Request }

func (o restOf) Read([]byte) (int, error) { panic("WriteTo is there") }

func (o restOf) WriteTo(w io.Writer) (n int64, err error) {
	for in, err := range o.r.Args() {
		if err != nil {
			return n, err
		}
		m, err := in.WriteTo(w)
		n += m
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

var errRandom = &cartridge.Error{Code: "RANDOM", Attribution: frame.AttributionInput, Message: "on purpose"}

// fail gives up somewhere.
func (p *pacer) fail(_ context.Context, r *cartridge.Request) error {
	in, err := r.Next()
	if err == io.EOF {
		return errRandom
	}
	if err != nil {
		return err
	}
	out := r.Output("media:", nil)
	if _, err := io.CopyN(out, in, int64(p.size())); err != nil && err != io.EOF {
		return err
	}
	if p.n(2) == 0 {
		panic("on purpose")
	}
	return errRandom
}

type slowReader struct {
	io.Reader
	p *pacer
}

func (s slowReader) Read(b []byte) (int, error) {
	s.p.pause()
	return s.Reader.Read(b[:1+s.p.n(len(b))])
}

// request makes one request and checks what comes of it.
func (p *pacer) request(t *testing.T, h *loopback) {
	name := []string{"copy", "collect", "beside", "items", "peer", "fail"}[p.n(6)]
	var want []byte
	var args []call.Arg
	for range p.n(4) {
		arg, raw, held := p.arg()
		if name == "items" {
			raw = held
		}
		args, want = append(args, arg), append(want, raw...)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	stop := -1
	if p.n(4) == 0 {
		stop = p.n(20)
	}
	c, err := call.Start(ctx, h, call.Request{Cap: "cap:" + name}, args...)
	if err != nil {
		t.Error("Start: ", err)
		return
	}
	defer c.Close()
	var got []byte
	for i := 0; ; i++ {
		if i == stop {
			switch p.n(3) {
			case 0:
				cancel(call.ErrCancelledByUser)
			case 1:
				c.Cancel(false, call.ErrCancelledByUser)
			case 2:
				return // abandons it
			}
		}
		p.pause()
		e, err := c.Next(t.Context())
		switch e.Kind {
		case call.EventData:
			got = append(got, e.Data...)
		case call.EventItem:
			got = append(got, content(t, e.Item.CBOR)...)
		}
		switch {
		case err == nil:
			continue
		case err == io.EOF && name != "fail":
			if !bytes.Equal(got, want) {
				t.Errorf("%s: got %d bytes, want %d, or others", name, len(got), len(want))
			}
		case stop >= 0 && errors.Is(err, &call.Error{Code: "CANCELLED"}):
		case name == "fail" && errors.Is(err, &call.Error{Code: "RANDOM"}):
		case name == "fail" && errors.Is(err, &call.Error{Code: "HANDLER_ERROR"}):
		default:
			t.Errorf("%s: Next: %v", name, err)
		}
		return
	}
}

// content returns what is in a CBOR byte string.
func content(t *testing.T, item []byte) (data []byte) {
	if err := cbor.Unmarshal(item, &data); err != nil {
		t.Error(err)
	}
	return data
}

// arg returns an argument, its bytes as a reader gets them, and what its items hold.
func (p *pacer) arg() (arg call.Arg, raw, held []byte) {
	data := pattern(p.size())
	arg.Unbounded = p.n(8) == 0
	switch p.n(5) {
	case 0:
		arg.Body = slowReader{bytes.NewReader(data), p}
	case 1:
		arg.Body = struct{ io.Reader }{bytes.NewReader(data)}
	case 2:
		arg.Body = bytes.NewReader(data)
	case 3:
		arg.Items, raw = p.itemsOf(data)
		return arg, raw, data
	case 4:
		return arg, nil, nil
	}
	return arg, data, data
}

// itemsOf cuts data into items, which are CBOR byte strings, and returns them also one behind the other.
func (p *pacer) itemsOf(data []byte) (seq iter.Seq2[call.Item, error], raw []byte) {
	var items [][]byte
	for len(data) > 0 {
		n := 1 + p.n(len(data))
		item, err := cbor.Marshal(data[:n])
		if err != nil {
			panic(err)
		}
		items, raw, data = append(items, item), append(raw, item...), data[n:]
	}
	return func(yield func(call.Item, error) bool) {
		for _, item := range items {
			p.pause()
			if !yield(call.Item{CBOR: item}, nil) {
				return
			}
		}
	}, raw
}
