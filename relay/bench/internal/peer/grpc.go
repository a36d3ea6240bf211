package peer

import (
	"context"
	"errors"
	"net"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/cosim-go/cosim/relay/bench/internal/pair"
)

// A grpcStream is both ends of one bidirectional stream over a socket pair.
type grpcStream struct {
	near   grpc.ClientStream
	far    grpc.ServerStream
	cancel context.CancelFunc
	client *grpc.ClientConn
	server *grpc.Server
	served sync.WaitGroup
}

func newGRPCStream(m messages) (*grpcStream, error) {
	near, far, err := pair.New()
	if err != nil {
		return nil, err
	}
	s := &grpcStream{cancel: func() {}}
	opened := make(chan grpc.ServerStream, 1)
	s.server = grpc.NewServer(append(m.server, grpc.ReadBufferSize(pair.Buffer), grpc.WriteBufferSize(pair.Buffer))...)
	s.server.RegisterService(service(opened), nil)
	s.served.Go(func() { s.server.Serve(pair.Listen(far)) }) // ends with Stop
	dial := func(context.Context, string) (net.Conn, error) { return near, nil }
	s.client, err = grpc.NewClient("passthrough:pair", append(m.client, grpc.WithContextDialer(dial),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithReadBufferSize(pair.Buffer), grpc.WithWriteBufferSize(pair.Buffer))...)
	if err != nil {
		return nil, errors.Join(err, s.close(), near.Close())
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	s.near, err = s.client.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, "/bench.Carry/Stream")
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	s.far = <-opened
	return s, nil
}

// service hands its streams over and keeps each until the client goes.
func service(opened chan<- grpc.ServerStream) *grpc.ServiceDesc {
	handler := func(_ any, stream grpc.ServerStream) error {
		opened <- stream
		<-stream.Context().Done()
		return nil
	}
	return &grpc.ServiceDesc{ServiceName: "bench.Carry", HandlerType: (*any)(nil), Streams: []grpc.StreamDesc{
		{StreamName: "Stream", Handler: handler, ClientStreams: true, ServerStreams: true},
	}}
}

func (s *grpcStream) close() error {
	s.cancel()
	var err error
	if s.client != nil {
		err = s.client.Close()
	}
	s.server.Stop()
	s.served.Wait()
	return err
}
