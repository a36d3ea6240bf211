package frame_test

import (
	"fmt"
	"testing"

	"github.com/cosim-go/cosim/relay/frame"
)

// A sample is a frame with all that its type may carry.
type sample struct {
	name  string
	frame frame.Frame
}

var (
	sampleID  = frame.UUID([16]byte{0x0a, 0x1b, 0x2c, 0x3d, 0x4e, 0x5f, 0x40, 0x81, 0x92, 0xa3, 0xb4, 0xc5, 0xd6, 0xe7, 0xf8, 0x09})
	sampleXID = frame.Number(77)
)

// samples returns a full frame of every type, some types in several forms, and CHUNKs with
// payloads of many sizes.
func samples(tb testing.TB) []sample {
	tb.Helper()
	made := func(f frame.Frame, err error) frame.Frame {
		tb.Helper()
		if err != nil {
			tb.Fatal(err)
		}
		return f
	}
	limits := frame.Limits{MaxFrame: 500_000, MaxChunk: 50_000, MaxReorderBuffer: 128, InitialCredit: 8}
	all := []sample{
		{"hello of a host", made(frame.NewHello(frame.Hello{Limits: limits, HandlerCapacity: frame.Some[uint64](0)}))},
		{"hello of a cartridge", made(frame.NewHello(frame.Hello{
			Limits: limits, Manifest: []byte(`{"name":"demo"}`), Pools: []byte(`{}`), HandlerCapacity: frame.Some[uint64](3),
		}))},
		{"req", fullReq(tb)},
		{"stream_start", fullStreamStart(tb)},
		{"stream_end", frame.NewStreamEnd(sampleID, []byte("arg0"), frame.Some[uint64](3))},
		{"stream_end without count", frame.NewStreamEnd(sampleID, []byte("arg0"), frame.Optional[uint64]{})},
		{"end of a body", frame.NewBodyEnd(sampleID)},
		{"end with success", made(frame.NewEnd(sampleID, frame.EndInfo{ExitCode: frame.Some[int64](0)}))},
		{"end with all", made(frame.NewEnd(sampleID, frame.EndInfo{
			ExitCode: frame.Some[int64](-2), Progress: frame.Some(0.25), Message: []byte("stopped"),
		}))},
		{"log", made(frame.NewLog(sampleID, frame.LogInfo{
			Level: []byte("warn"), Message: []byte("a blank page"), Attribution: frame.AttributionInput, ArgURN: []byte("media:ext=pdf"),
		}))},
		{"log of progress", made(frame.NewLog(sampleID, frame.LogInfo{Message: []byte("half"), Progress: frame.Some(0.5)}))},
		{"err", made(frame.NewErr(sampleID, frame.ErrInfo{
			Code: []byte("CONTEXT_OVERFLOW"), Attribution: frame.AttributionInput, Message: []byte("prompt too large"), ArgURN: []byte("media:enc=utf-8"),
		}))},
		{"heartbeat", made(frame.NewHeartbeat(sampleID, frame.Heartbeat{}))},
		{"heartbeat probe", made(frame.NewHeartbeat(sampleID, frame.Heartbeat{DesiredCapacities: []byte(`{"all":4}`), ResourceState: []byte{0}}))},
		{"heartbeat answer", made(frame.NewHeartbeat(sampleID, frame.Heartbeat{
			Pools: []byte(`{}`), HandlerCapacity: frame.Some[uint64](4), FootprintMB: frame.Some[uint64](512), RSSMB: frame.Some[uint64](300),
			Drops: frame.Some[uint64](0), Stragglers: frame.Some[uint64](1), Overruns: frame.Some[uint64](2),
		}))},
		{"relay_notify", made(frame.NewRelayNotify(frame.Notify{Manifest: []byte(`{"caps":["cap:effect=none"]}`), Limits: limits}))},
		{"relay_state", frame.NewRelayState([]byte(`{"gpus":2}`))},
		{"cancel", made(frame.NewCancel(sampleID, false, frame.CancelReason{}))},
		{"cancel with reason", made(frame.NewCancel(sampleID, true, frame.CancelReason{
			Code: []byte("CANCELLED"), Attribution: frame.AttributionUser, Message: []byte("Cancelled by user"),
		}))},
		{"credit", frame.NewCredit(sampleID, []byte("out"), 16, frame.ResponseDirection)},
		{"close_stream", frame.NewCloseStream(sampleID, []byte("mic"))},
		{"policy", frame.NewPolicy([]byte(`{"max_memory_mb":2048}`))},
		{"chunk of a feed", fullChunk(tb)},
	}
	for _, size := range []int{0, 1, 64, 1 << 10, 32<<10 - 1, 32 << 10, 64 << 10, 256 << 10} {
		all = append(all, sample{fmt.Sprintf("chunk of %d bytes", size), chunk(size)})
	}
	return all
}

// chunk returns a CHUNK with a payload of some bytes and a routing id, as a relay sees most.
func chunk(size int) frame.Frame {
	payload := make([]byte, size)
	for i := range payload {
		payload[i] = byte(i * 7)
	}
	f := frame.NewChunk(sampleID, []byte("6f1d0c1e-4b1a-4c55-9d57-2b7c1c0e4a11"), 5, payload, 0xcbf29ce484222325)
	f.RoutingID, f.Seq = sampleXID, 17
	return f
}

func fullReq(tb testing.TB) frame.Frame {
	f := frame.NewReq(sampleID, []byte("cap:effect=none"))
	f.RoutingID, f.ContentType = sampleXID, []byte("application/cbor")
	f.Meta = metaOf(tb, frame.ReqInfo{TargetCartridge: []byte("demo"), ParentRID: sampleID})
	return f
}

func fullStreamStart(tb testing.TB) frame.Frame {
	f := frame.NewStreamStart(sampleID, []byte("mic"), []byte("media:audio"))
	f.IsSequence, f.Unbounded = frame.Some(true), frame.Some(true)
	var b frame.MetaBuilder
	b.Text("title", "mic")
	b.Int("sample_rate", 48000)
	b.Any("channels", []string{"left", "right"})
	f.Meta = built(tb, &b)
	return f
}

func fullChunk(tb testing.TB) frame.Frame {
	f := chunk(100)
	f.ContentType = []byte("application/octet-stream")
	f.Len, f.Offset, f.EOF = frame.Some[uint64](1000), frame.Some[uint64](900), frame.Some(true)
	f.Meta = metaOf(tb, frame.FeedItem{
		Seq: frame.Some[int64](12), PTS: frame.Some[int64](180_000), Capture: frame.Some[int64](1_790_000_000_000_000),
		Gap: frame.Some(frame.Gap{Dropped: 3, Duration: 60_000}),
	})
	return f
}

// metaOf returns what an info puts into a meta.
func metaOf(tb testing.TB, info interface{ Put(*frame.MetaBuilder) }) frame.Meta {
	tb.Helper()
	var b frame.MetaBuilder
	info.Put(&b)
	return built(tb, &b)
}

func built(tb testing.TB, b *frame.MetaBuilder) frame.Meta {
	tb.Helper()
	m, err := b.Meta()
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// encoded returns a frame's body.
func encoded(tb testing.TB, f *frame.Frame) []byte {
	tb.Helper()
	body, err := f.Append(nil)
	if err != nil {
		tb.Fatalf("Append(%v frame) = %v", f.Type, err)
	}
	return body
}

// decoded returns the frame of a body.
func decoded(tb testing.TB, body []byte) *frame.Frame {
	tb.Helper()
	var f frame.Frame
	if err := frame.Decode(body, &f); err != nil {
		tb.Fatalf("Decode(%x) = %v", clip(body), err)
	}
	return &f
}

// wire returns a body behind its length.
func wire(body []byte) []byte {
	n := len(body)
	return append([]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}, body...)
}

// clip keeps failure messages readable.
func clip(b []byte) []byte { return b[:min(len(b), 64)] }
