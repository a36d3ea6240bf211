package cartridge_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/cartridge"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/manifest"
	"github.com/cosim-go/cosim/relay/relaytest"
)

func idle(context.Context, *cartridge.Request) error { return nil }

func TestHelloSaysManifestPoolsAndSmallerLimits(t *testing.T) {
	relaytest.NoLeaks(t)
	c := cartridge.New("demo", "1.2.3", &cartridge.Options{
		Description: "what it does", Channel: manifest.ChannelNightly,
		Limits: frame.Limits{MaxChunk: 1000, InitialCredit: 100},
		Pools: manifest.PoolDeclarations{
			Pools:      map[string][]string{"gpu": {hashCap}},
			Capacities: map[string]uint64{"gpu": 2, "all": 5},
		},
	})
	c.Handle(hashCap, "Hash", hash)
	s := start(t, c)
	answer := s.hello(frame.Limits{MaxFrame: 1 << 20, MaxChunk: 5000, MaxReorderBuffer: 7, InitialCredit: 8})

	require.Equal(t, frame.Limits{MaxFrame: 1 << 20, MaxChunk: 1000, MaxReorderBuffer: 7, InitialCredit: 8}, answer.Limits)
	require.Equal(t, uint64(5), answer.HandlerCapacity.Or(99))
	m, err := manifest.ParseCartridge(answer.Manifest)
	require.NoError(t, err)
	require.Equal(t, "demo 1.2.3 (nightly)", m.Install().String())
	require.Equal(t, "what it does", m.Description)
	var caps []string
	for _, c := range m.Caps() {
		caps = append(caps, c.String())
	}
	require.Equal(t, []string{echoCap, hashCap}, caps)
	pools, err := manifest.ParsePools(answer.Pools)
	require.NoError(t, err)
	require.Equal(t, manifest.Pools{
		"all":   {Declared: 5, Configured: 5, Caps: []string{echoCap, hashCap}},
		"gpu":   {Declared: 2, Configured: 2, Caps: []string{hashCap}},
		hashCap: {}, echoCap: {},
	}, pools)
	require.NoError(t, s.finish())
}

// Laws L1: one protocol version, and the HELLO comes first.
func TestHandshakeThatFails(t *testing.T) {
	relaytest.NoLeaks(t)
	hello := func(change func(*frame.MetaBuilder)) func(*script) {
		return func(s *script) {
			f, err := frame.NewHello(frame.Hello{Limits: frame.DefaultLimits()})
			require.NoError(t, err)
			var b frame.MetaBuilder
			for name, v := range f.Meta.All() {
				b.Raw(string(name), v.Raw())
			}
			change(&b)
			f.Meta, err = b.Meta()
			require.NoError(t, err)
			s.send(&f)
		}
	}
	for name, do := range map[string]func(*script){
		"nothing comes":     func(*script) {},
		"a REQ comes first": func(s *script) { s.req(hashCap) },
		"another version":   hello(func(b *frame.MetaBuilder) { b.Uint("version", 3) }),
		"credit of 0":       hello(func(b *frame.MetaBuilder) { b.Uint("initial_credit", 0) }),
		"a limit is a text": hello(func(b *frame.MetaBuilder) { b.Text("max_chunk", "many") }),
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, cartridge.New("demo", "1", nil))
			do(s)
			require.ErrorIs(t, s.finish(), frame.ErrHandshake)
		})
	}
}

func TestFramesThatNoHostSends(t *testing.T) {
	relaytest.NoLeaks(t)
	notify, err := frame.NewRelayNotify(frame.Notify{Manifest: []byte("{}"), Limits: frame.DefaultLimits()})
	require.NoError(t, err)
	hello, err := frame.NewHello(frame.Hello{Limits: frame.DefaultLimits()})
	require.NoError(t, err)
	state := frame.NewRelayState([]byte("{}"))
	for _, f := range []*frame.Frame{&hello, &notify, &state} {
		t.Run(f.Type.String(), func(t *testing.T) {
			s := greeted(t, cartridge.New("demo", "1", nil), 32)
			s.send(f)
			require.ErrorIs(t, s.finish(), frame.ErrProtocol)
		})
	}
}

func TestCartridgeThatMakesNoSense(t *testing.T) {
	for name, make := range map[string]func() *cartridge.Cartridge{
		"no cap URN": func() *cartridge.Cartridge { return with("nonsense", "Title") },
		"no title":   func() *cartridge.Cartridge { return with(hashCap, "") },
		"a cap twice": func() *cartridge.Cartridge {
			return with(hashCap, "Hash", `cap:in="media:";hash;out="media:enc=utf-8"`)
		},
		"no name":          func() *cartridge.Cartridge { return cartridge.New("", "1", nil) },
		"an unknown pool":  func() *cartridge.Cartridge { return pooled("gpu") },
		"a pool named all": func() *cartridge.Cartridge { return pooled(manifest.PoolAll) },
	} {
		t.Run(name, func(t *testing.T) {
			c := make()
			require.Error(t, c.Err())
			s := start(t, c)
			require.Equal(t, c.Err(), <-s.served)
			_, err := s.in.Next()
			require.Error(t, err, "the connection is closed")
		})
	}
}

func with(urn, title string, more ...string) *cartridge.Cartridge {
	c := cartridge.New("demo", "1", nil)
	c.Handle(urn, title, idle)
	for _, urn := range more {
		c.Handle(urn, title, idle)
	}
	return c
}

func pooled(pool string) *cartridge.Cartridge {
	o := &cartridge.Options{Pools: manifest.PoolDeclarations{Capacities: map[string]uint64{pool: 1}}}
	if pool == manifest.PoolAll {
		o.Pools.Pools = map[string][]string{pool: {hashCap}}
	}
	c := cartridge.New("demo", "1", o)
	c.Handle(hashCap, "Hash", hash)
	return c
}

// What was negotiated holds for what the host sends, too.
func TestFrameAboveTheLimit(t *testing.T) {
	c := cartridge.New("demo", "1", &cartridge.Options{Limits: frame.Limits{MaxFrame: 5000}})
	s := start(t, c)
	s.hello(frame.DefaultLimits())
	f := frame.NewPolicy(make([]byte, 6000))
	s.send(&f)
	require.ErrorIs(t, s.finish(), frame.ErrFrameTooLarge)
}
