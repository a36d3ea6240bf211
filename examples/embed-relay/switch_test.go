package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"github.com/cosim-go/cosim/relay/bridge"
	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
)

// limit is how long the host may take for an answer.
const limit = 30 * time.Second

// engine plays the switch of one host, and who uses it.
type engine struct {
	t       *testing.T
	master  *bridge.Master
	offers  chan []string     // caps, whenever the host announces them again
	frames  chan *frame.Frame // all else that the host sends; closed at the end
	err     error             // why that ended; nil for an orderly end
	numbers flow.SeqAssigner
	calls   uint64
}

// meet waits for a host and for what it announces first.
func meet(t *testing.T, socket net.Conn) *engine {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	e := &engine{t: t, offers: make(chan []string, 4), frames: make(chan *frame.Frame)}
	master, err := bridge.Connect(ctx, socket, &bridge.MasterOptions{
		OnNotify: func(n frame.Notify) { e.offers <- capsIn(t, n.Manifest) },
	})
	if err != nil {
		t.Fatal(err)
	}
	e.master = master
	go e.read()
	return e
}

func (e *engine) read() {
	defer close(e.frames)
	for {
		f, err := e.master.ReadFrame()
		if err == io.EOF {
			return
		}
		if err != nil {
			e.err = err
			return
		}
		e.frames <- f.Clone()
	}
}

func capsIn(t *testing.T, manifest []byte) []string {
	var m struct{ Caps []string }
	if err := json.Unmarshal(manifest, &m); err != nil {
		t.Errorf("manifest %s: %v", manifest, err)
	}
	return m.Caps
}

// next returns the next frame from the host.
func (e *engine) next() *frame.Frame {
	e.t.Helper()
	select {
	case f, ok := <-e.frames:
		if !ok {
			e.t.Fatalf("the host has ended: %v", e.err)
		}
		return f
	case <-time.After(limit):
		e.t.Fatal("the host does not answer")
	}
	return nil
}

// nextOffer returns what the host announces next.
func (e *engine) nextOffer() []string {
	e.t.Helper()
	select {
	case caps := <-e.offers:
		return caps
	case <-time.After(limit):
		e.t.Fatal("the host announces nothing")
	}
	return nil
}

// A call is a request to the host.
type call struct {
	e       *engine
	id, xid frame.ID
}

func (e *engine) begin(cap string) *call {
	e.calls++
	c := &call{e: e, id: frame.NewUUID(), xid: frame.Number(e.calls)}
	req := frame.NewReq(c.id, []byte(cap))
	req.ContentType, req.Payload = []byte("application/cbor"), []byte{}
	c.send(req)
	return c
}

func (c *call) send(f frame.Frame) {
	c.e.t.Helper()
	f.RoutingID = c.xid
	c.e.numbers.Assign(&f)
	if err := c.e.master.Send(&f); err != nil {
		c.e.t.Fatal(err)
	}
	if f.Type.Terminal() {
		c.e.numbers.Remove(flow.KeyOf(f.Head()))
	}
}

// stream sends one stream, a CHUNK for each payload, and the end of the body.
func (c *call) stream(id string, payloads ...string) {
	c.send(frame.NewStreamStart(c.id, []byte(id), []byte("media:")))
	for i, p := range payloads {
		c.send(frame.NewChunk(c.id, []byte(id), uint64(i), []byte(p), flow.Checksum([]byte(p))))
	}
	c.send(frame.NewStreamEnd(c.id, []byte(id), frame.Some(uint64(len(payloads)))))
	c.send(frame.NewBodyEnd(c.id))
}

// answer reads the response: what its CHUNKs bring, and how it ends.
func (c *call) answer() (data []byte, end frame.EndInfo, err error) {
	for {
		f := c.e.next()
		if f.ID != c.id || f.RoutingID != c.xid {
			return nil, end, fmt.Errorf("a %v frame of request %v, want %v", f.Type, f.ID, c.id)
		}
		switch f.Type {
		case frame.TypeStreamStart, frame.TypeStreamEnd, frame.TypeLog, frame.TypeCredit, frame.TypeHeartbeat:
		case frame.TypeChunk:
			if f.Checksum.Or(0) != flow.Checksum(f.Payload) {
				return nil, end, errors.New("a chunk with another checksum")
			}
			data = append(data, f.Payload...)
		case frame.TypeEnd:
			return data, f.EndInfo(), nil
		case frame.TypeErr:
			info, err := f.ErrInfo()
			if err == nil {
				err = fmt.Errorf("%s (%v)", info.Code, info.Attribution)
			}
			return nil, end, err
		default:
			return nil, end, fmt.Errorf("a %v frame as an answer", f.Type)
		}
	}
}

// verify is the identity check: what was sent has to come back.
func (e *engine) verify() error {
	nonce := []byte("\x66bifaci") // the CBOR text "bifaci"
	c := e.begin("cap:effect=none")
	c.stream("identity-verify", string(nonce))
	data, _, err := c.answer()
	if err == nil && !bytes.Equal(data, nonce) {
		err = fmt.Errorf("%q came back, want %q", data, nonce)
	}
	return err
}
