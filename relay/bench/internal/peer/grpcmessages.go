package peer

import (
	"google.golang.org/grpc"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// messages are how bodies become gRPC messages, and the settings that go with it.
type messages struct {
	server []grpc.ServerOption
	client []grpc.DialOption
	holder func(body []byte) any // a message that holds a body, or takes one in
	body   func(message any) []byte
}

// protobuf is gRPC as it comes: messages of generated code with a bytes field, its codec, its flow control.
func protobuf() messages {
	return messages{
		holder: func(body []byte) any { return wrapperspb.Bytes(body) },
		body:   func(message any) []byte { return message.(*wrapperspb.BytesValue).Value },
	}
}

// wideWindow is how many bytes may be in flight on a stream and on its connection. By itself gRPC begins with
// 64 KiB and widens the window where it finds that the connection would take more.
const wideWindow = 4 << 20

// raw is gRPC at its fastest: a codec of our own that takes the bytes as they are and copies them once, at the
// receiver, into a buffer that is used again; and windows that hold nobody back for long.
func raw() messages {
	return messages{
		server: []grpc.ServerOption{
			grpc.ForceServerCodecV2(rawCodec{}), grpc.InitialWindowSize(wideWindow), grpc.InitialConnWindowSize(wideWindow),
		},
		client: []grpc.DialOption{
			grpc.WithDefaultCallOptions(grpc.ForceCodecV2(rawCodec{})),
			grpc.WithInitialWindowSize(wideWindow), grpc.WithInitialConnWindowSize(wideWindow),
		},
		holder: func(body []byte) any { return &body },
		body:   func(message any) []byte { return *message.(*[]byte) },
	}
}

// rawCodec passes on the bytes of a *[]byte.
type rawCodec struct{}

func (rawCodec) Name() string { return "raw" }

func (rawCodec) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(*v.(*[]byte))}, nil
}

func (rawCodec) Unmarshal(data mem.BufferSlice, v any) error {
	body := v.(*[]byte)
	n := data.Len()
	if n > cap(*body) {
		*body = make([]byte, n)
	}
	*body = (*body)[:n]
	data.CopyTo(*body)
	return nil
}
