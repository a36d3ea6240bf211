package cartridges

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/frame"
)

// A request that is cancelled while its body is on the way ends at once, with the peer call that was made for it, and
// the cartridges go on.
func TestCancelInTheMiddle(t *testing.T) {
	text := prose(1 << 16)
	for name, c := range map[string]struct {
		cap, media string
		data       []byte
	}{
		"hash":       {sha256Cap, "media:", text},
		"compress":   {compressCap, "media:", text},
		"decompress": {decompressCap, gzMedia, gz(text)},
		"words":      {wordsCap, gzMedia, gz(text)},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, []string{"hash", "words"}, []string{"compress"})
			for how, end := range map[string]func(*call.Call, context.CancelCauseFunc) error{
				"Cancel":  func(c *call.Call, _ context.CancelCauseFunc) error { return c.Cancel(false, call.ErrCancelledByUser) },
				"context": func(_ *call.Call, cancel context.CancelCauseFunc) error { cancel(call.ErrCancelledByUser); return nil },
				"Close":   func(c *call.Call, _ context.CancelCauseFunc) error { return c.Close() },
			} {
				err := r.cancelled(c.cap, c.media, end)
				byUser := fails(err, call.Error{Code: call.CodeCancelled, Attribution: frame.AttributionUser})
				if !byUser && (how == "Cancel" || how == "context" && !errors.Is(err, call.ErrCancelledByUser) || err == nil) {
					t.Errorf("ended by %s in the middle: %v", how, err)
				}
				if active := r.Stats().Requests.Active; len(active) > 0 {
					t.Errorf("ended by %s, requests are left: %+v", how, active)
				}
			}
			r.must(c.cap, c.media, c.data)
		})
	}
}

// cancelled begins a request, ends it when the handler has taken some of its body, and returns what it ended with.
func (r *rig) cancelled(cap, media string, end func(*call.Call, context.CancelCauseFunc) error) error {
	r.t.Helper()
	ctx, cancel := context.WithCancelCause(r.t.Context())
	defer cancel(nil)
	in, out := io.Pipe()
	defer in.Close()
	c, err := call.Start(ctx, r, call.Request{Cap: cap}, call.Arg{Media: media, Body: in})
	if err != nil {
		r.t.Fatal(err)
	}
	defer c.Close()
	ended := make(chan error, 1)
	go func() {
		_, err := c.Collect(context.Background())
		ended <- err
	}()
	if _, err := out.Write(beyondCredit()); err != nil {
		r.t.Errorf("writing the body: %v", err)
	}
	if err := end(c, cancel); err != nil {
		r.t.Errorf("ending the request: %v", err)
	}
	return <-ended
}

// beyondCredit returns the beginning of a gzip stream, more than goes out before the handler has taken some.
var beyondCredit = sync.OnceValue(func() []byte {
	const size = frame.DefaultCredit*frame.DefaultMaxChunk + 1<<20
	return stored(make([]byte, size)) // which takes no time to compress
})
