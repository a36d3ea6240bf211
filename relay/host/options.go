package host

import (
	"log/slog"
	"time"

	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/manifest"
)

// Options are the options of [New]. The zero value has the defaults.
type Options struct {
	// Limits are what is proposed to cartridges, whose smaller ones count, and announced while none runs. A zero
	// field is the default of package frame, which is also the most for MaxFrame: a relay takes no longer frames.
	Limits frame.Limits

	// Logger gets what happens to cartridges, and what they write to standard error: that at level info with the
	// keys cartridge, pid and line. Nil discards it.
	Logger *slog.Logger

	// Observer, when not nil, is told what happens to cartridges, one event after the other and in their order. It must
	// not wait for long, and may use the host.
	Observer func(Event)

	// Strict makes the violation of a cartridge the end of Run, with an error of kind frame.ErrProtocol, as other
	// implementations do. Otherwise it is the death of that cartridge.
	Strict bool

	// Stay keeps cartridges running when the relay ends, for the next Run. Their requests are cancelled, since nobody
	// can take the answers. Otherwise they are stopped.
	Stay bool

	// AllowEmpty makes Run begin also without a cap to offer. Some switches refuse such a host; see [ErrNothing].
	AllowEmpty bool

	// Unnumbered is for a switch that numbers nothing, and makes its first check of identity without a routing id, such
	// as that of the published Python package. Requests without routing id are accepted then.
	Unnumbered bool

	// State says what a cartridge gets of a RELAY_STATE payload; nil from it is nothing. It must not change payload, which may
	// be returned, and is called with the host locked: it must neither wait nor use the host. Nil is all of the payload for
	// all cartridges.
	State func(payload []byte, i manifest.Install) []byte

	// TakesPolicy says whether a cartridge can read a POLICY; some older ones end when they get one. It is called as
	// State is. Nil is yes for all.
	TakesPolicy func(i manifest.Install) bool

	HelloLimit     time.Duration // from the start of a cartridge to its HELLO; 0 is 15 s
	IdentityLimit  time.Duration // for the check of identity, and for what follows before the first request; 0 is 15 s
	HeartbeatEvery time.Duration // between two heartbeats; 0 is 30 s
	HeartbeatLimit time.Duration // for the answer to a heartbeat; 0 is 10 s
	Republish      time.Duration // between two announcements while a cartridge runs; 0 is 2 s
	StopLimit      time.Duration // for a cartridge to leave after the end of its input; 0 is 2 s
	DrainLimit     time.Duration // for the requests of a cartridge that left the roster; 0 is 600 s

	// MaxQueued is how many bytes may wait for a cartridge that does not read. One for which more than that wait for 10 s is
	// killed, and one for which four times as much wait at once. 0 is 64 MiB.
	MaxQueued int
}

// Limits of what is not in the options.
const (
	exitGrace = 500 * time.Millisecond // for a process to end after its output, before it is killed
	killLimit = 5 * time.Second        // for whatever serves a link to end after it was killed

	flushSize = 64 << 10 // bytes that a reader handles before it sends what they have caused

	defaultQueued = 64 << 20 // bytes
	overflow      = 4        // times MaxQueued
)

// fill returns the options with defaults for what is not set.
func (o *Options) fill() Options {
	var f Options
	if o != nil {
		f = *o
	}
	f.Limits = completeLimits(f.Limits)
	if f.Logger == nil {
		f.Logger = slog.New(slog.DiscardHandler)
	}
	if f.MaxQueued <= 0 {
		f.MaxQueued = defaultQueued
	}
	for _, d := range []struct {
		limit  *time.Duration
		absent time.Duration
	}{
		{&f.HelloLimit, 15 * time.Second},
		{&f.IdentityLimit, 15 * time.Second},
		{&f.HeartbeatEvery, 30 * time.Second},
		{&f.HeartbeatLimit, 10 * time.Second},
		{&f.Republish, 2 * time.Second},
		{&f.StopLimit, 2 * time.Second},
		{&f.DrainLimit, 600 * time.Second},
	} {
		if *d.limit <= 0 {
			*d.limit = d.absent
		}
	}
	return f
}

func completeLimits(l frame.Limits) frame.Limits {
	d := frame.DefaultLimits()
	for _, f := range []struct{ limit, absent *uint64 }{
		{&l.MaxFrame, &d.MaxFrame},
		{&l.MaxChunk, &d.MaxChunk},
		{&l.MaxReorderBuffer, &d.MaxReorderBuffer},
		{&l.InitialCredit, &d.InitialCredit},
	} {
		if *f.limit == 0 {
			*f.limit = *f.absent
		}
	}
	l.MaxFrame = min(l.MaxFrame, d.MaxFrame)
	return l
}
