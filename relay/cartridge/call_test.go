package cartridge_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/cartridge"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/internal/pipe"
	"github.com/cosim-go/cosim/relay/relaytest"
)

const (
	hashCap = `cap:hash;out="media:enc=utf-8"`
	echoCap = `cap:effect=none`
)

func hash(ctx context.Context, r *cartridge.Request) error {
	in, err := r.Next()
	if err != nil {
		return err
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, in); err != nil {
		return err
	}
	_, err = fmt.Fprintf(r.Output("media:enc=utf-8", nil), "%x", sum.Sum(nil))
	return err
}

// serve starts a cartridge behind a loopback.
func serve(t testing.TB, c *cartridge.Cartridge, limits frame.Limits) *loopback {
	t.Helper()
	near, far := pipe.New(0)
	served := make(chan error, 1)
	go func() { served <- c.Serve(context.Background(), far) }()
	h := newLoopback(t, near, limits)
	t.Cleanup(func() {
		h.Close()
		if err := <-served; err != nil {
			t.Error("Serve: ", err)
		}
	})
	return h
}

func TestBytesThereAndBack(t *testing.T) {
	relaytest.NoLeaks(t)
	c := cartridge.New("test", "1.0.0", nil)
	c.Handle(hashCap, "Hash", hash)
	h := serve(t, c, frame.DefaultLimits())
	for _, size := range []int{0, 1, 100, 262144, 262145, 3 << 20} {
		data := bytes.Repeat([]byte{7}, size)
		sum, err := call.Do(t.Context(), h, hashCap, call.Bytes("media:", data))
		require.NoError(t, err)
		require.Equal(t, fmt.Sprintf("%x", sha256.Sum256(data)), string(sum))
		back, err := call.Do(t.Context(), h, echoCap, call.Bytes("media:", data))
		require.NoError(t, err)
		require.True(t, bytes.Equal(data, back))
	}
	_, err := call.Do(t.Context(), h, "cap:nothing", call.Bytes("media:", nil))
	require.True(t, errors.Is(err, &call.Error{Code: "NO_HANDLER"}), "%v", err)
}
