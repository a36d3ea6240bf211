package route_test

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/relaytest"
)

func TestARequestGoesToItsHandlerAndBack(t *testing.T) {
	relaytest.NoLeaks(t)
	s := newSwitch(t, nil)
	h := join(t, s, "a", identity, echoCap)
	l, err := s.Open(t.Context(), call.Request{Cap: "cap:echo"})
	require.NoError(t, err)
	defer l.Close()
	req := h.expect(frame.TypeReq)
	end := frame.NewBodyEnd(frame.ID{})
	require.NoError(t, l.Send(t.Context(), &end))
	h.expect(frame.TypeEnd)
	h.echo(req, "hello")
	for _, want := range []frame.Type{frame.TypeStreamStart, frame.TypeChunk, frame.TypeStreamEnd, frame.TypeEnd} {
		f, err := l.Next(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, f.Type)
	}
	_, err = l.Next(t.Context())
	require.Equal(t, io.EOF, err)
}
