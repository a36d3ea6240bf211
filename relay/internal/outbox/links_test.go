package outbox_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/relaytest"
)

// A moodyLink keeps what is written to it, takes as much at once as chance has it, and fails
// after a number of bytes.
type moodyLink struct {
	mu     sync.Mutex
	rand   *rand.Rand
	got    bytes.Buffer
	cut    int // bytes; negative for a link that lives
	closed int // how often
	died   bool
	late   int // writes after it died
}

func newMoodyLink(seed uint64, cut int) *moodyLink {
	return &moodyLink{rand: rand.New(rand.NewPCG(seed, 9)), cut: cut}
}

func (l *moodyLink) TryWrite(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.take(p[:l.rand.IntN(len(p)+1)])
}

func (l *moodyLink) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.take(p)
}

func (l *moodyLink) take(p []byte) (int, error) {
	if l.died {
		l.late++
	}
	if l.closed > 0 {
		return 0, io.ErrClosedPipe
	}
	if l.cut >= 0 && len(p) > l.cut-l.got.Len() {
		l.died = true
		n, _ := l.got.Write(p[:l.cut-l.got.Len()])
		return n, io.ErrUnexpectedEOF
	}
	return l.got.Write(p)
}

func (l *moodyLink) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed++
	return nil
}

// taken returns what the link took, and whether it was closed once.
func (l *moodyLink) taken() ([]byte, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return bytes.Clone(l.got.Bytes()), l.closed == 1
}

// readAll returns the frames of a stream until its end.
func readAll(t *testing.T, r io.Reader) (frames []*frame.Frame) {
	t.Helper()
	for in := frame.NewReader(r, nil); ; {
		f, err := in.Next()
		if err == io.EOF {
			return frames
		}
		if err != nil {
			t.Error(err)
			return frames
		}
		frames = append(frames, f.Clone())
	}
}

// overEach runs a test over each kind of connection.
func overEach(t *testing.T, test func(t *testing.T, near, far relaytest.Conn)) {
	for _, transport := range relaytest.Transports() {
		t.Run(transport.Name, func(t *testing.T) {
			relaytest.NoLeaks(t)
			near, far, err := transport.Open()
			if err != nil {
				t.Fatal(err)
			}
			defer near.Close()
			defer far.Close()
			test(t, near, far)
		})
	}
}
