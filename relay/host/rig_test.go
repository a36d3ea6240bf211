package host

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/manifest"
	"github.com/cosim-go/cosim/relay/relaytest"
)

// How long a test waits for what has to come, and how long in a bubble of synctest.
const (
	patience       = 30 * time.Second
	bubblePatience = time.Hour
)

// marks counts the tests, so that each finds its own processes.
var marks struct {
	sync.Mutex
	n int
}

func newMark() string {
	marks.Lock()
	defer marks.Unlock()
	marks.n++
	return fmt.Sprintf("%d-%d", os.Getpid(), marks.n)
}

// A rig is a host with the switch's end of its relay, which speaks raw frames.
type rig struct {
	t    *testing.T
	h    *Host
	mark string

	patience time.Duration
	conn     relaytest.Conn
	ran      chan error // what Run returned

	out *frame.Writer
	seq *flow.SeqAssigner
	xid uint64

	hold    lock // held while the switch's end reads nothing
	mu      sync.Mutex
	changed chan struct{} // closed at the next change
	frames  []*frame.Frame
	notes   []*manifest.Inventory
	ended   bool
	events  []Event
}

// newRig returns a rig without a relay yet.
func newRig(t *testing.T, o *Options) *rig {
	t.Helper()
	r := &rig{t: t, mark: newMark(), patience: patience, hold: make(lock, 1), changed: make(chan struct{}), seq: flow.NewSeqAssigner(nil)}
	if o == nil {
		o = &Options{}
	}
	if o.Observer == nil {
		o.Observer = func(e Event) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.events = append(r.events, e)
			r.change()
		}
	}
	r.h = New(o)
	return r
}

// startRig runs a host with cartridges over a socket pair. At the end of the test nothing may be left.
func startRig(t *testing.T, o *Options, behaviours ...string) *rig {
	t.Helper()
	relaytest.NoLeaks(t)
	r := newRig(t, o)
	for _, b := range behaviours {
		require.NoError(t, r.h.Register(r.registration(b)))
	}
	r.run()
	return r
}

// registration returns the registration of a process that behaves in a way: name/behaviour.
func (r *rig) registration(behaviour string) Registration {
	name, _, _ := bytes.Cut([]byte(behaviour), []byte{'/'})
	return Registration{
		Install: install(string(name)), Groups: manifestOf(string(name), "").Groups, Provider: r.program(behaviour),
	}
}

func install(name string) manifest.Install {
	return manifest.Install{Channel: manifest.ChannelRelease, ID: name, Version: "1.2.3"}
}

// program returns the provider of a process of this test binary.
func (r *rig) program(behaviour string) Provider {
	self, err := os.Executable()
	require.NoError(r.t, err)
	env := append(os.Environ(), behaviourVar+"="+behaviour, markVar+"="+r.mark)
	return Program(nil, Command{Path: self, Env: env})
}

// run runs the host.
func (r *rig) run() {
	r.t.Helper()
	near, far, err := relaytest.SocketPair()
	require.NoError(r.t, err)
	r.conn, r.ran, r.ended = near, make(chan error, 1), false
	r.out = frame.NewWriter(near, nil)
	go r.read(near)
	go func() { r.ran <- r.h.Run(r.t.Context(), far) }()
	r.t.Cleanup(func() {
		near.Close()
		r.h.Close()
		r.noProcesses()
	})
	r.note(func(*manifest.Inventory) bool { return true })
}

// awaitRelease waits while a test holds what is read.
func (r *rig) awaitRelease() {
	r.hold.Lock()
	defer r.hold.Unlock()
}

func (r *rig) read(conn relaytest.Conn) {
	in := frame.NewReader(conn, nil)
	for {
		r.awaitRelease()
		f, err := in.Next()
		r.mu.Lock()
		if err != nil {
			r.ended = true
			r.change()
			r.mu.Unlock()
			return
		}
		if f.Type == frame.TypeRelayNotify {
			n, _ := f.Notify()
			inventory, err := manifest.ParseInventory(n.Manifest)
			if err != nil {
				r.t.Errorf("a manifest that cannot be read: %v", err)
			}
			r.notes = append(r.notes, inventory)
		} else {
			r.frames = append(r.frames, f.Clone())
		}
		r.change()
		r.mu.Unlock()
	}
}

func (r *rig) change() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// await waits until something holds, which it looks at with the lock held.
func (r *rig) await(what string, holds func() bool) {
	r.t.Helper()
	limit := time.After(r.patience)
	for {
		r.mu.Lock()
		ok, changed := holds(), r.changed
		r.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-changed:
		case <-limit:
			r.t.Fatalf("no %s came within %v", what, r.patience)
		}
	}
}

// next waits for the first frame of a request with one of the types, and takes it out.
func (r *rig) next(id frame.ID, types ...frame.Type) (found *frame.Frame) {
	r.t.Helper()
	r.await(fmt.Sprintf("%v of request %v", types, id), func() bool {
		for i, f := range r.frames {
			if f.ID != id {
				continue
			}
			for _, t := range types {
				if f.Type == t {
					found = f
					r.frames = append(r.frames[:i:i], r.frames[i+1:]...)
					return true
				}
			}
		}
		return false
	})
	return found
}

// newReq waits for the REQ of a peer call.
func (r *rig) newReq() (found *frame.Frame) {
	r.t.Helper()
	r.await("REQ of a peer call", func() bool {
		for i, f := range r.frames {
			if f.Type == frame.TypeReq {
				found = f
				r.frames = append(r.frames[:i:i], r.frames[i+1:]...)
				return true
			}
		}
		return false
	})
	return found
}

// note waits for an announcement, among those that no earlier call has passed over.
func (r *rig) note(holds func(*manifest.Inventory) bool) (found *manifest.Inventory) {
	r.t.Helper()
	r.await("announcement", func() bool {
		for i, n := range r.notes {
			if holds(n) {
				found = n
				r.notes = r.notes[i+1:]
				return true
			}
		}
		return false
	})
	return found
}

// event waits for an event of a kind, and takes it out.
func (r *rig) event(kind EventKind) (found Event) {
	r.t.Helper()
	r.await("event "+string(kind), func() bool {
		for i, e := range r.events {
			if e.Kind == kind {
				found = e
				r.events = append(r.events[:i:i], r.events[i+1:]...)
				return true
			}
		}
		return false
	})
	return found
}

// send numbers frames and writes them.
func (r *rig) send(frames ...*frame.Frame) {
	r.t.Helper()
	for _, f := range frames {
		r.seq.Assign(f)
		require.NoError(r.t, r.out.Write(f))
		if f.Type.Terminal() {
			r.seq.Remove(flow.KeyOf(f.Head()))
		}
	}
	require.NoError(r.t, r.out.Flush())
}

// A req is a request of the rig's.
type req struct {
	flow.Key
	r *rig
}

// req sends a REQ.
func (r *rig) req(cap string, edits ...func(*frame.Frame)) req {
	r.t.Helper()
	r.xid++
	q := req{flow.Key{RID: frame.NewUUID(), XID: frame.Number(r.xid)}, r}
	f := frame.NewReq(q.RID, []byte(cap))
	f.RoutingID = q.XID
	for _, edit := range edits {
		edit(&f)
	}
	r.send(&f)
	return q
}

// meta returns an edit that sets texts.
func meta(texts ...string) func(*frame.Frame) {
	return func(f *frame.Frame) {
		var b frame.MetaBuilder
		for i := 0; i < len(texts); i += 2 {
			b.Text(texts[i], texts[i+1])
		}
		f.Meta, _ = b.Meta()
	}
}

// body sends the body of a request: one stream.
func (q req) body(data string) req {
	q.r.t.Helper()
	a := &actor{}
	frames := a.stream(q.Key, "arg0", data)
	end := frame.NewBodyEnd(q.RID)
	end.RoutingID = q.XID
	q.r.send(append(frames, &end)...)
	return q
}

// end waits for the END of the response.
func (q req) end() {
	q.r.t.Helper()
	f := q.r.next(q.RID, frame.TypeEnd, frame.TypeErr)
	require.Equal(q.r.t, frame.TypeEnd, f.Type, "%s", f.Meta.Raw())
}

// err waits for the ERR of the response, and checks its code and attribution.
func (q req) err(code string, at frame.Attribution) *frame.Frame {
	q.r.t.Helper()
	f := q.r.next(q.RID, frame.TypeEnd, frame.TypeErr)
	require.Equal(q.r.t, frame.TypeErr, f.Type)
	require.Equal(q.r.t, q.XID, f.RoutingID)
	checkErr(q.r.t, f, code, at)
	return f
}

func checkErr(t *testing.T, f *frame.Frame, code string, at frame.Attribution) {
	t.Helper()
	e, err := f.ErrInfo()
	require.NoError(t, err)
	require.Equal(t, code, string(e.Code), "%s", e.Message)
	require.Equal(t, at, e.Attribution, "%s", e.Message)
}

// message returns the message of an ERR.
func message(f *frame.Frame) string {
	e, _ := f.ErrInfo()
	return string(e.Message)
}

// echoes checks that a cartridge serves.
func (r *rig) echoes(name string) {
	r.t.Helper()
	q := r.req(capOf("echo") + ";of=" + name).body("hello")
	require.Equal(r.t, "hello", string(r.next(q.RID, frame.TypeChunk).Payload))
	q.end()
}

// idle waits until the host knows of no request.
func (r *rig) idle() {
	r.t.Helper()
	limit := time.Now().Add(patience)
	for {
		s := r.h.Stats()
		if s.IncomingRXIDs == 0 && s.OutgoingRIDs == 0 && s.OutgoingMaxSeq == 0 {
			return
		}
		if time.Now().After(limit) {
			r.t.Fatalf("requests are left: %+v", s)
		}
		time.Sleep(time.Millisecond)
	}
}

// processes returns the ids of processes that carry the test's mark.
func (r *rig) processes() (ids []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, f := range files {
		env, err := os.ReadFile(f)
		if err == nil && bytes.Contains(env, []byte(markVar+"="+r.mark+"\x00")) {
			id, _ := strconv.Atoi(filepath.Base(filepath.Dir(f)))
			ids = append(ids, id)
		}
	}
	return ids
}

// noProcesses checks that none is left.
func (r *rig) noProcesses() {
	r.t.Helper()
	if ids := r.processes(); len(ids) > 0 {
		r.t.Errorf("processes are left: %v", ids)
	}
}
