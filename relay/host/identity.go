package host

import (
	"bytes"
	"fmt"

	codec "github.com/fxamacker/cbor/v2"

	"github.com/cosim-go/cosim/relay/caps"
	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/internal/cbor"
	"github.com/cosim-go/cosim/relay/manifest"
)

// The check of identity sends a nonce to the cap that answers with its input: the CBOR text "bifaci", in a CBOR byte
// string.
var (
	nonce        = []byte("\x66bifaci")
	wrappedNonce = append([]byte{0x47}, nonce...)
)

// checkIdentity has a cartridge answer with a nonce, before any other request.
func checkIdentity(in *frame.Reader, out *frame.Writer) *StartError {
	id := frame.NewUUID()
	err := sendNonce(out, id)
	if err == nil {
		err = awaitNonce(in, id)
	}
	if err != nil {
		return &StartError{manifest.IdentityRejected, fmt.Errorf("the check of its identity: %w", err)}
	}
	return nil
}

func sendNonce(out *frame.Writer, id frame.ID) error {
	stream := []byte("identity-verify")
	req := frame.NewReq(id, []byte(caps.Identity))
	req.ContentType = []byte("application/cbor")
	start := frame.NewStreamStart(id, stream, []byte("media:"))
	chunk := frame.NewChunk(id, stream, 0, wrappedNonce, flow.Checksum(wrappedNonce))
	streamEnd := frame.NewStreamEnd(id, stream, frame.Some[uint64](1))
	end := frame.NewBodyEnd(id)
	frames := []*frame.Frame{&req, &start, &chunk, &streamEnd, &end}
	for seq, f := range frames {
		f.RoutingID, f.Seq = frame.Number(0), uint64(seq)
	}
	return writeAll(out, frames...)
}

// awaitNonce reads until the answer has ended. An answer in other pieces counts too, if its byte strings, joined, are the
// nonce.
func awaitNonce(in *frame.Reader, id frame.ID) error {
	e := echo{wrapped: true}
	for {
		f, err := in.Next()
		if err != nil {
			return unexpected(err)
		}
		switch f.Type {
		case frame.TypeLog, frame.TypeCredit, frame.TypeHeartbeat:
			continue
		case frame.TypeStreamStart, frame.TypeStreamEnd, frame.TypeChunk, frame.TypeEnd, frame.TypeErr:
		default:
			return frame.Errorf(frame.ErrProtocol, "a %v in it", f.Type)
		}
		if f.ID != id {
			continue
		}
		switch f.Type {
		case frame.TypeChunk:
			if err := e.add(f.Payload); err != nil {
				return err
			}
		case frame.TypeEnd:
			return e.check()
		case frame.TypeErr:
			return failure(f)
		}
	}
}

// failure says what an ERR says.
func failure(f *frame.Frame) error {
	e, err := f.ErrInfo()
	if err != nil {
		return err
	}
	return fmt.Errorf("it failed with %s: %s", e.Code, e.Message)
}

// An echo is what comes back of a nonce.
type echo struct {
	raw     []byte
	content []byte // of the byte strings, as long as all payloads are some
	wrapped bool
}

// maxEcho is far more than any way to cut seven bytes takes.
const maxEcho = 1 << 10

func (e *echo) add(payload []byte) error {
	if e.raw = append(e.raw, payload...); len(e.raw) > maxEcho {
		return frame.Errorf(frame.ErrProtocol, "what came back is longer than what was sent")
	}
	content, ok := byteString(payload)
	e.wrapped = e.wrapped && ok
	e.content = append(e.content, content...)
	return nil
}

func (e *echo) check() error {
	if bytes.Equal(e.raw, wrappedNonce) || e.wrapped && bytes.Equal(e.content, nonce) {
		return nil
	}
	return frame.Errorf(frame.ErrProtocol, "what came back, % x, is not what was sent, % x", e.raw, wrappedNonce)
}

// byteString returns what a CBOR byte string holds.
func byteString(item []byte) (content []byte, ok bool) {
	if len(item) == 0 || item[0]&cbor.Mask != cbor.Bytes {
		return nil, false
	}
	return content, codec.Unmarshal(item, &content) == nil
}
