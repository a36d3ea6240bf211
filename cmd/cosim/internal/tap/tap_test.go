package tap

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/relaytest"
)

// A bench is a tap with a program behind it.
type bench struct {
	t      *testing.T
	near   string // what the tap listens on
	far    *net.UnixListener
	ended  chan error
	cancel context.CancelFunc

	mu     sync.Mutex
	events []string
	warned []string
	report func(Event) error // instead of the noting, when not nil
}

// tapped starts a tap. At the end of the test nothing of it may be left.
func tapped(t *testing.T, report func(Event) error) *bench {
	t.Helper()
	relaytest.NoLeaks(t)
	dir, err := os.MkdirTemp("", "tap") // short, for the sockets
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, near: filepath.Join(dir, "near"), ended: make(chan error, 1), report: report}
	far := filepath.Join(dir, "far")
	if b.far, err = net.ListenUnix("unix", &net.UnixAddr{Name: far, Net: "unix"}); err != nil {
		t.Fatal(err)
	}
	tap, err := New(b.near, far, b.note, func(text string) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.warned = append(b.warned, strings.ReplaceAll(text, dir, ""))
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	b.cancel = cancel
	go func() { b.ended <- tap.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		b.far.Close()
		os.RemoveAll(dir)
	})
	return b
}

func (b *bench) note(e Event) error {
	if b.report != nil {
		return b.report(e)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.events = append(b.events, textLine(e, false))
	return nil
}

// join returns both ends of a connection through the tap.
func (b *bench) join() (near, far *net.UnixConn) {
	b.t.Helper()
	near, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: b.near, Net: "unix"})
	if err != nil {
		b.t.Fatal(err)
	}
	far, err = b.far.AcceptUnix()
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() {
		near.Close()
		far.Close()
	})
	return near, far
}

// end ends the tap and returns what it reported.
func (b *bench) end() []string {
	b.t.Helper()
	b.cancel()
	if err := <-b.ended; err != nil {
		b.t.Errorf("Serve = %v, want nil", err)
	}
	if _, err := os.Lstat(b.near); !errors.Is(err, os.ErrNotExist) {
		b.t.Errorf("the tap's socket is still there: %v", err)
	}
	return b.events
}

func wire(t *testing.T, frames ...*frame.Frame) []byte {
	t.Helper()
	var out bytes.Buffer
	w := frame.NewWriter(&out, nil)
	for _, f := range frames {
		if err := w.Write(f); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// both sends bytes each way at the same time, and returns what arrives at the far and at the
// near end. Each direction ends by itself.
func (b *bench) both(near, far *net.UnixConn, forward, back []byte) (gotForward, gotBack []byte) {
	var all sync.WaitGroup
	send := func(c *net.UnixConn, data []byte) {
		c.Write(data)
		c.CloseWrite()
	}
	all.Go(func() { send(near, forward) })
	all.Go(func() { send(far, back) })
	all.Go(func() { gotForward, _ = io.ReadAll(far) })
	all.Go(func() { gotBack, _ = io.ReadAll(near) })
	all.Wait()
	return gotForward, gotBack
}

func beat(n uint64) *frame.Frame { return &frame.Frame{Type: frame.TypeHeartbeat, ID: frame.Number(n)} }

func TestTapReportsBothDirections(t *testing.T) {
	b := tapped(t, nil)
	near, far := b.join()
	forward, back := wire(t, beat(1), beat(2)), wire(t, beat(3))
	gotForward, gotBack := b.both(near, far, forward, back)
	if !bytes.Equal(gotForward, forward) || !bytes.Equal(gotBack, back) {
		t.Errorf("%x and %x arrive, want %x and %x", gotForward, gotBack, forward, back)
	}
	far.Close()
	b.join()
	b.wait(func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return slices.Contains(b.events, "2 opened")
	})
	got := b.end() // with the second connection open
	for _, want := range []string{
		"1 opened", "1 > @0 heartbeat id=1 seq=0", "1 > @13 heartbeat id=2 seq=0", "1 > @26 ended",
		"1 < @0 heartbeat id=3 seq=0", "1 < @13 ended", "1 closed", "2 opened",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("events = %q, want among them %q", got, want)
		}
	}
}

// Each way of cutting the bytes of some frames into two reads tells the same.
func TestTapFindsFramesHoweverTheyArrive(t *testing.T) {
	all := wire(t, beat(1), &frame.Frame{Type: frame.TypeRelayState, ID: frame.Number(0), Payload: make([]byte, 70)}, beat(2))
	events := func(parts ...[]byte) (lines []string) {
		w := &watcher{connection: 1, direction: Back, report: func(e Event) error {
			lines = append(lines, textLine(e, false))
			return nil
		}}
		for _, part := range parts {
			if err := w.see(part); err != nil {
				t.Fatal(err)
			}
		}
		w.end(nil)
		return lines
	}
	want := events(all)
	if len(want) != 4 || !strings.HasPrefix(want[1], "1 < @13 relay_state id=0 seq=0 payload=[70]00000000") {
		t.Fatalf("events = %q", want)
	}
	for cut := range all {
		if got := events(all[:cut], all[cut:]); !slices.Equal(got, want) {
			t.Errorf("cut at %d: events = %q, want %q", cut, got, want)
		}
		if cut == 0 {
			continue
		}
		short := events(all[:cut])
		if last := short[len(short)-1]; (cut == 13 || cut == len(all)-13) != strings.HasSuffix(last, "ended") && cut < len(all) {
			t.Errorf("ended after %d bytes: %q", cut, last)
		}
	}
	var singly [][]byte
	for i := range all {
		singly = append(singly, all[i:i+1])
	}
	if got := events(singly...); !slices.Equal(got, want) {
		t.Errorf("a byte at a time: events = %q, want %q", got, want)
	}
}

func TestTapPassesWhatIsNoFrame(t *testing.T) {
	good := wire(t, beat(7))
	for _, test := range []struct {
		name string
		sent []byte
		want string
	}{
		{"text", append(bytes.Clone(good), "GET / HTTP/1.1\r\n"...), "1 > @13 no frames from here on, passed on unseen: a length of 1195725856 bytes"},
		{"a body that is no frame", append([]byte{0, 0, 0, 1, 0xa0}, good...), "1 > @0 no frames from here on, passed on unseen: "},
		{"a malformed body", append([]byte{0, 0, 0, 1, 0xff}, good...), "1 > @0 no frames from here on, passed on unseen: offset 0: "},
		{"an empty body", append([]byte{0, 0, 0, 0}, good...), "1 > @0 no frames from here on, passed on unseen: "},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := tapped(t, nil)
			near, far := b.join()
			sent := bytes.Repeat(test.sent, 1000)
			got, _ := b.both(near, far, sent, good)
			if !bytes.Equal(got, sent) {
				t.Errorf("%d bytes arrive, want the %d that were sent", len(got), len(sent))
			}
			events := b.end()
			said := 0
			for _, e := range events {
				if strings.HasPrefix(e, test.want) {
					said++
				}
			}
			if said != 1 || !slices.Contains(events, "1 < @0 heartbeat id=7 seq=0") || !slices.Contains(events, fmt.Sprintf("1 > @%d ended", len(sent))) {
				t.Errorf("events = %q, want %q once, and the rest of both directions", events, test.want)
			}
		})
	}
}

func TestTapPassesLargeFrames(t *testing.T) {
	b := tapped(t, nil)
	near, far := b.join()
	payload := bytes.Repeat([]byte{0xaa}, 3<<20)
	forward := wire(t, &frame.Frame{Type: frame.TypeRelayState, ID: frame.Number(0), Payload: payload}, beat(1))
	got, _ := b.both(near, far, forward, nil)
	if !bytes.Equal(got, forward) {
		t.Errorf("%d bytes arrive, want %d", len(got), len(forward))
	}
	if events := b.end(); !slices.ContainsFunc(events, func(e string) bool {
		return strings.HasPrefix(e, "1 > @0 relay_state id=0 seq=0 payload=[3145728]aaaaaaaa") && len(e) < 200
	}) {
		t.Errorf("events = %q", events)
	}
}

// Nothing runs ahead of its report: a report that waits holds up the traffic.
func TestFramesPassAfterTheirReport(t *testing.T) {
	there := make(chan *net.UnixConn, 1)
	reported := 0
	b := tapped(t, func(e Event) error {
		if e.Kind != Frame {
			return nil
		}
		far := <-there
		if n := unread(t, far); int64(n) > e.Offset {
			t.Errorf("%d bytes have arrived before the frame at %d is reported", n, e.Offset)
		}
		there <- far
		reported++
		return nil
	})
	near, far := b.join()
	there <- far
	const frames = 20
	for range frames {
		if _, err := near.Write(wire(t, beat(1))); err != nil {
			t.Fatal(err)
		}
	}
	near.CloseWrite()
	got := make([]byte, frames*13)
	b.wait(func() bool { return unread(t, far) == len(got) })
	if _, err := io.ReadFull(far, got); err != nil {
		t.Error(err)
	}
	b.end()
	if reported != frames {
		t.Errorf("%d frames were reported, want %d", reported, frames)
	}
}

// unread returns how many bytes wait to be read.
func unread(t *testing.T, c *net.UnixConn) (n int) {
	t.Helper()
	raw, err := c.SyscallConn()
	if err == nil {
		err = raw.Control(func(fd uintptr) { n, _ = unix.IoctlGetInt(int(fd), unix.TIOCINQ) })
	}
	if err != nil {
		t.Error(err)
	}
	return n
}

// wait looks until something is so.
func (b *bench) wait(so func() bool) {
	b.t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !so(); {
		if time.Now().After(deadline) {
			b.t.Fatal("it does not come to be so in 10 s")
		}
		runtime.Gosched()
	}
}

func TestReportThatFailsEndsTheTap(t *testing.T) {
	broken := errors.New("the reader is gone")
	b := tapped(t, func(e Event) error {
		if e.Kind == Frame {
			return broken
		}
		return nil
	})
	near, far := b.join()
	near.Write(wire(t, beat(1)))
	if err := <-b.ended; !errors.Is(err, broken) {
		t.Errorf("Serve = %v, want %v", err, broken)
	}
	if got, _ := io.ReadAll(far); len(got) > 0 {
		t.Errorf("%x arrives although it could not be reported", got)
	}
	if _, err := os.Lstat(b.near); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the tap's socket is still there: %v", err)
	}
}

func TestTapSaysThatItCannotConnect(t *testing.T) {
	b := tapped(t, nil)
	b.far.Close()
	near, err := net.Dial("unix", b.near)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(near); err != nil || len(got) > 0 {
		t.Errorf("ReadAll = %q, %v, want the end", got, err)
	}
	near.Close()
	if events := b.end(); len(events) > 0 {
		t.Errorf("events = %q, want none", events)
	}
	want := `connection 1, accepted on "/near": cannot connect to "/far": no such file or directory`
	if len(b.warned) != 1 || b.warned[0] != want {
		t.Errorf("warned = %q, want %q", b.warned, want)
	}
}

// When nobody reads any more, the writer hears of it, and the other direction goes on.
func TestTapPassesOnThatNobodyReads(t *testing.T) {
	b := tapped(t, nil)
	near, far := b.join()
	far.CloseRead()
	var err error
	for err == nil {
		_, err = near.Write(make([]byte, 1<<16))
	}
	if _, err := far.Write(wire(t, beat(5))); err != nil {
		t.Fatal(err)
	}
	far.CloseWrite()
	if got, err := io.ReadAll(near); err != nil || len(got) != 13 {
		t.Errorf("ReadAll = %x, %v, want the frame", got, err)
	}
	near.Close()
	b.end()
}
