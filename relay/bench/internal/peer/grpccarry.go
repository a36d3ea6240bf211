package peer

import (
	"errors"
	"io"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/cosim-go/cosim/relay/bench/internal/carry"
	"github.com/cosim-go/cosim/relay/bench/internal/load"
)

// GRPCLink carries bodies in protobuf messages of a gRPC stream.
func GRPCLink(item load.Item) (carry.Link, error) { return newGRPCLink(item, protobuf()) }

// GRPCRawLink carries bodies as the messages of a gRPC stream.
func GRPCRawLink(item load.Item) (carry.Link, error) { return newGRPCLink(item, raw()) }

// GRPCEcho is a round trip in protobuf messages over a gRPC stream.
func GRPCEcho(tape load.Tape) (carry.Echo, error) { return newGRPCEcho(tape, protobuf()) }

// GRPCRawEcho is a round trip of bodies as messages over a gRPC stream.
func GRPCRawEcho(tape load.Tape) (carry.Echo, error) { return newGRPCEcho(tape, raw()) }

func newGRPCLink(item load.Item, m messages) (carry.Link, error) {
	s, err := newGRPCStream(m)
	if err != nil {
		return nil, err
	}
	return &grpcLink{s, m, m.holder(item.Body()), m.holder(nil), sync.OnceValue(s.close)}, nil
}

type grpcLink struct {
	stream         *grpcStream
	messages       messages
	sent, received any
	close          func() error
}

func (l *grpcLink) Send(n int) error {
	for range n {
		if err := l.stream.near.SendMsg(l.sent); err != nil {
			return err
		}
	}
	return nil
}

func (l *grpcLink) Receive(n int, see carry.See) error {
	for range n {
		if err := l.stream.far.RecvMsg(l.received); err != nil {
			return err
		}
		if see != nil {
			see(l.messages.body(l.received))
		}
	}
	return nil
}

func (l *grpcLink) Close() error { return l.close() }

func newGRPCEcho(tape load.Tape, m messages) (carry.Echo, error) {
	s, err := newGRPCStream(m)
	if err != nil {
		return nil, err
	}
	e := &grpcEcho{stream: s, messages: m, received: m.holder(nil)}
	for i := range tape.Items {
		e.sent = append(e.sent, m.holder(tape.Items[i].Body()))
	}
	e.far.Go(func() { e.err = reflect(s.far, m) })
	return e, nil
}

type grpcEcho struct {
	stream   *grpcStream
	messages messages
	sent     []any
	next     int
	received any
	far      sync.WaitGroup
	err      error // of the far side; read after it ended
}

func (e *grpcEcho) Trip(see carry.See) error {
	message := e.sent[e.next]
	e.next = (e.next + 1) % len(e.sent)
	if err := e.stream.near.SendMsg(message); err != nil {
		return err
	}
	err := e.stream.near.RecvMsg(e.received)
	if see != nil && err == nil {
		see(e.messages.body(e.received))
	}
	return err
}

func (e *grpcEcho) Close() error {
	err := e.stream.close()
	e.far.Wait()
	return errors.Join(err, e.err)
}

// reflect sends back what arrives until the stream ends.
func reflect(stream grpc.ServerStream, m messages) error {
	for {
		message := m.holder(nil) // gRPC may still hold the one that it was given to send
		err := stream.RecvMsg(message)
		if err == nil {
			err = stream.SendMsg(message)
		}
		if err == io.EOF || status.Code(err) == codes.Canceled {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
