package bridge_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
)

var (
	rid      = frame.UUID([16]byte{0x0a, 0x1b, 0x2c, 0x3d, 0x4e, 0x5f, 0x40, 0x81, 0x92, 0xa3, 0xb4, 0xc5, 0xd6, 0xe7, 0xf8, 0x09})
	other    = frame.UUID([16]byte{0xff, 0x1b, 0x2c, 0x3d, 0x4e, 0x5f, 0x40, 0x81, 0x92, 0xa3, 0xb4, 0xc5, 0xd6, 0xe7, 0xf8, 0x09})
	xid      = frame.Number(77)
	streamID = []byte("6f1d0c1e-4b1a-4c55-9d57-2b7c1c0e4a11")
)

// numbered returns a frame of a flow with its number.
func numbered(f frame.Frame, seq uint64) frame.Frame {
	f.RoutingID, f.Seq = xid, seq
	return f
}

func req(seq uint64) frame.Frame {
	return numbered(frame.NewReq(rid, []byte("cap:effect=none")), seq)
}

func chunk(seq uint64, size int) frame.Frame {
	payload := make([]byte, size)
	for i := range payload {
		payload[i] = byte(i*7) + byte(seq)
	}
	return numbered(frame.NewChunk(rid, streamID, seq, payload, flow.Checksum(payload)), seq)
}

func bodyEnd(seq uint64) frame.Frame { return numbered(frame.NewBodyEnd(rid), seq) }

func errFrame(t testing.TB, seq uint64) frame.Frame {
	t.Helper()
	f, err := frame.NewErr(rid, frame.ErrInfo{
		Code: []byte("CRASHED"), Attribution: frame.AttributionEnvironment, Message: []byte("it died"),
	})
	if err != nil {
		t.Fatal(err)
	}
	return numbered(f, seq)
}

// control returns frames outside of flows that pass a relay in both directions. Their numbers
// mean nothing.
func control(t testing.TB) []frame.Frame {
	t.Helper()
	made := func(f frame.Frame, err error) frame.Frame {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return numbered(f, 5)
	}
	return []frame.Frame{
		made(frame.NewCancel(rid, true, frame.CancelReason{Message: []byte("enough")})),
		made(frame.NewCredit(rid, streamID, 16, frame.ResponseDirection), nil),
		made(frame.NewCloseStream(rid, streamID), nil),
		made(frame.NewHeartbeat(frame.Number(9), frame.Heartbeat{})),
		made(frame.NewHello(frame.Hello{Limits: frame.DefaultLimits()})),
	}
}

// offer is what a host announces in these tests.
func offer(manifest string) frame.Notify {
	return frame.Notify{Manifest: []byte(manifest), Limits: frame.Limits{
		MaxFrame: 1 << 20, MaxChunk: 1 << 16, MaxReorderBuffer: 4, InitialCredit: 8,
	}}
}

func notify(t testing.TB, manifest string) frame.Frame {
	t.Helper()
	f, err := frame.NewRelayNotify(offer(manifest))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// stateWithoutPayload changes nothing.
func stateWithoutPayload() frame.Frame {
	return frame.Frame{Type: frame.TypeRelayState, ID: frame.Number(0)}
}

// wire returns frames as they travel.
func wire(t testing.TB, frames ...frame.Frame) (b []byte) {
	t.Helper()
	for i := range frames {
		body, err := frames[i].Append(nil)
		if err != nil {
			t.Fatal(err)
		}
		b = append(b, prefixed(body)...)
	}
	return b
}

func prefixed(body []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
}

func describeFrame(f *frame.Frame) string {
	return fmt.Sprintf("%v %d of %v/%v, payload %.20q", f.Type, f.Seq, f.ID, f.RoutingID, f.Payload)
}
