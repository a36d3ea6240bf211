package interop

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/frame"
)

// throughPeer writes frames to the peer, which decodes and encodes them, and reads them again.
func throughPeer(t *testing.T, p *peer, frames []*frame.Frame) []*frame.Frame {
	t.Helper()
	cmd := p.command(t, "frames")
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	written := make(chan error, 1)
	go func() { written <- writeAll(stdin, frames) }()
	var back []*frame.Frame
	r := frame.NewReader(stdout, nil)
	for {
		f, err := r.Next()
		if err == io.EOF {
			break
		}
		require.NoError(t, err, "frame %d from the peer", len(back))
		back = append(back, f.Clone())
	}
	require.NoError(t, cmd.Wait())
	require.NoError(t, <-written)
	return back
}

func writeAll(out io.WriteCloser, frames []*frame.Frame) error {
	defer out.Close()
	w := frame.NewWriter(out, nil)
	for _, f := range frames {
		if err := w.Write(f); err != nil {
			return err
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return out.Close()
}

func encode(t *testing.T, f *frame.Frame) []byte {
	t.Helper()
	body, err := f.Append(nil)
	require.NoError(t, err)
	return body
}

// Requirement: R2
func TestFramesSurviveThePeer(t *testing.T) {
	eachPeer(t, func(t *testing.T, p *peer) {
		s := newSource(t, p)
		frames := make([]*frame.Frame, 1000)
		for i := range frames {
			frames[i] = s.frame(t)
		}
		back := throughPeer(t, p, frames)
		require.Len(t, back, len(frames))
		for i, f := range frames {
			require.Equal(t, f, back[i], "frame %d", i)
		}
	})
}

// largestFrame returns a CHUNK whose body is as long as the limit allows, and some bytes more.
func largestFrame(t *testing.T, more int) *frame.Frame {
	f := &frame.Frame{
		Type: frame.TypeChunk, ID: frame.NewUUID(), StreamID: []byte("s"),
		ChunkIndex: frame.Some[uint64](0), Checksum: frame.Some[uint64](0),
		Payload: make([]byte, frame.DefaultMaxFrame/2),
	}
	rest := len(encode(t, f)) - len(f.Payload)
	f.Payload = make([]byte, frame.DefaultMaxFrame-rest+more)
	require.Len(t, encode(t, f), frame.DefaultMaxFrame+more)
	return f
}

func TestTheLargestFrameSurvivesThePeer(t *testing.T) {
	eachPeer(t, func(t *testing.T, p *peer) {
		f := largestFrame(t, 0)
		back := throughPeer(t, p, []*frame.Frame{f, f})
		require.Len(t, back, 2)
		assert.True(t, bytes.Equal(encode(t, f), encode(t, back[1])))
	})
}

// The bytes are the same, not only what they say: both write keys in ascending order, seq
// always, and optional fields where they are set.
func TestThePeerWritesTheBytesThatWeDo(t *testing.T) {
	eachPeer(t, func(t *testing.T, p *peer) {
		s := newSource(t, p)
		bodies := make([][]byte, 500)
		for i := range bodies {
			bodies[i] = encode(t, s.frame(t))
		}
		for i, v := range verdictsOf(t, p, bodies) {
			require.Empty(t, v.Error, "body %x: %s", bodies[i], v.Text)
			require.Equal(t, bodies[i], v.body(t))
		}
	})
}
