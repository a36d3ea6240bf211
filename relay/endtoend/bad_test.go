package endtoend

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/host"
	"github.com/cosim-go/cosim/relay/manifest"
	"github.com/cosim-go/cosim/relay/relaytest"
	"github.com/cosim-go/cosim/relay/route"
	"github.com/cosim-go/cosim/relay/stats"
)

// A misdeed is what a bad cartridge does, and what comes of it.
type misdeed struct {
	name      string
	behaviour string // while it starts
	do        string // what is asked of it

	code       string // that the request ends with; "" for success
	class      frame.Attribution
	says       string
	attachment manifest.AttachmentKind // "" for none
	dies       bool                    // and is started again by the next request
	options    host.Options
}

const (
	died      = "CARTRIDGE_DIED"
	unhealthy = "CARTRIDGE_UNHEALTHY"
	violation = "PROTOCOL_VIOLATION"
	noStart   = "SPAWN_FAILED"
)

var (
	quickStart = host.Options{HelloLimit: 7 * time.Second}
	quickProbe = host.Options{HeartbeatEvery: 500 * time.Millisecond, HeartbeatLimit: 7 * time.Second}
)

var misdeeds = []misdeed{
	{name: "hangs/in HELLO", behaviour: "hang in HELLO", code: noStart, class: frame.AttributionEnvironment,
		says: "could not be greeted in time (7s)", attachment: manifest.HandshakeFailed, options: quickStart},
	{name: "hangs/in a request", do: "hang", code: unhealthy, class: frame.AttributionEnvironment,
		says: "did not answer a heartbeat", dies: true, options: quickProbe},
	{name: "floods stderr/and answers", do: "flood stderr"},
	{name: "floods stderr/and exits", do: "flood stderr and exit", code: died, class: frame.AttributionEnvironment,
		says: lastLine, dies: true},
	{name: "dies in HELLO/before it", behaviour: "die in HELLO", code: noStart, class: frame.AttributionEnvironment,
		says: "exited with status 3; last lines of its stderr: no licence", attachment: manifest.HandshakeFailed},
	{name: "dies in HELLO/in the middle", behaviour: "half a HELLO", code: noStart, class: frame.AttributionEnvironment,
		says: "exited with status 3", attachment: manifest.HandshakeFailed},
	{name: "answers identity wrong", behaviour: "wrong identity", code: noStart, class: frame.AttributionEnvironment,
		says: "is not what was sent", attachment: manifest.IdentityRejected},
	{name: "sends Policy", do: "policy", code: violation, class: frame.AttributionInternal, says: "a policy, which", dies: true},
	{name: "sends RelayState", do: "state", code: violation, class: frame.AttributionInternal, says: "a relay_state, which", dies: true},
	{name: "writes half a frame/and exits", do: "half a frame, and exit", code: died, class: frame.AttributionEnvironment,
		says: "exited with status 3 in the middle of a frame", dies: true},
	{name: "writes half a frame/and hangs", do: "half a frame", code: unhealthy, class: frame.AttributionEnvironment,
		says: "did not answer a heartbeat", dies: true, options: quickProbe},
	{name: "floods stdout/with what is no frame", do: "garbage", code: died, class: frame.AttributionEnvironment,
		says: "wrote what is no frame (", dies: true},
}

// Requirements: R1, W3, PO2. Whatever a cartridge does, its own requests end with the code and the class that say whose fault it is,
// nothing of it reaches others, and the requests of its neighbours, on its host and on another, go on.
func TestBadCartridges(t *testing.T) {
	for _, m := range misdeeds {
		t.Run(m.name, func(t *testing.T) {
			b := startBad(t, m.behaviour, m.options)
			b.commit(&m)
			b.checkAfter(&m)
			b.endNeighbours(b.neighbours)
			assert.Zero(t, b.sw.Stats().Drops.Total, "%+v", b.sw.Stats().Drops)
			assert.Zero(t, b.host.Stats().Drops.Total, "%+v", b.host.Stats().Drops)
			b.checkEnd()
		})
	}
	t.Run("exceeds its credit/with a response", exceedCredit)
	t.Run("exceeds its credit/with the body of a peer call", exceedCreditAsRequester)
	t.Run("floods stdout/with frames of no request", floodOfNoRequest)
	t.Run("floods stdout/with what costs no credit", floodOfLogs)
}

// A badRig is a rig with a bad cartridge, and neighbours that go on.
type badRig struct {
	*rig
	host       *runningHost // of the bad cartridge
	neighbours []*neighbour
	served     int // requests of the bad cartridge that ended
}

func startBad(t *testing.T, behaviour string, o host.Options) *badRig {
	relaytest.NoLeaks(t)
	// The channel of a request takes four times as much.
	b := &badRig{rig: newRigWith(t, route.Options{MaxQueued: 1 << 20})}
	o.Logger = logger()
	h := host.New(&o)
	require.NoError(t, h.Register(registration(t, b.mark, "c0")))
	require.NoError(t, h.Register(registrationOf(t, b.mark, "bad", "raw", behaviour)))
	b.host = b.runHost("a", h)
	b.startHost("b", "c1")
	b.neighbours = b.startNeighbours("c0", "c1")
	return b
}

// ask begins a request of the bad cartridge.
func (b *badRig) ask(do string) *call.Call {
	var meta frame.MetaBuilder
	meta.Text("do", do)
	m, err := meta.Meta()
	require.NoError(b.t, err)
	c, err := call.Start(b.t.Context(), b.sw, call.Request{Cap: capOf("bad"), Meta: m})
	require.NoError(b.t, err)
	b.t.Cleanup(func() { c.Close() })
	b.served++
	return c
}

// told returns what the bad cartridge was told so far.
func (b *badRig) told() string {
	b.t.Helper()
	out, err := b.ask("tell").Collect(b.t.Context())
	require.NoError(b.t, err)
	require.Len(b.t, out, 1)
	return string(out[0].Data)
}

// commit has the bad cartridge do it, and checks how its requests end: this one, and one that just waits if it dies.
func (b *badRig) commit(m *misdeed) {
	var all []*call.Call
	if m.dies {
		b.told() // it runs, and takes more than one request
		all = append(all, b.ask("hold"))
	}
	for _, c := range append(all, b.ask(m.do)) {
		_, err := c.Collect(b.t.Context())
		if m.code == "" {
			assert.NoError(b.t, err)
			continue
		}
		b.checkError(err, m.code, m.class, m.says)
	}
	b.checkKinds(m)
}

func (b *badRig) checkError(err error, code string, class frame.Attribution, says string) {
	b.t.Helper()
	var e *call.Error
	require.ErrorAs(b.t, err, &e)
	assert.Equal(b.t, code, e.Code)
	assert.Equal(b.t, class, e.Attribution, e.Message)
	assert.Contains(b.t, e.Message, says)
}

func (b *badRig) checkKinds(m *misdeed) {
	want := map[stats.Kind]uint64{}
	switch {
	case m.dies:
		want[stats.KindEnd], want[stats.KindErr] = 1, 2
	case m.code != "":
		want[stats.KindErr] = 1
	default:
		want[stats.KindEnd] = 1
	}
	assert.Equal(b.t, want, b.sw.Stats().Requests.TerminatedByKind)
}

// record returns what the switch knows of the bad cartridge.
func (b *badRig) record() *manifest.Record {
	for _, r := range b.sw.Inventory() {
		if r.Install.ID == "bad" {
			return &r
		}
	}
	return nil
}

// checkAfter checks what is known of the bad cartridge later, and what comes of the next request.
func (b *badRig) checkAfter(m *misdeed) {
	if m.attachment == "" {
		if m.dies {
			eventually(b.t, func() bool { return b.record().Stats.Restarts == 1 }, "the death is announced")
		}
		assert.Nil(b.t, b.record().AttachmentError)
		assert.Contains(b.t, b.told(), "tell")
		return
	}
	eventually(b.t, func() bool { return b.record().AttachmentError != nil }, "the failure is announced")
	r := b.record()
	assert.Equal(b.t, m.attachment, r.AttachmentError.Kind)
	assert.Contains(b.t, r.AttachmentError.Message, m.says)
	assert.Empty(b.t, r.Groups)
	assert.False(b.t, b.offers("bad"))
	assert.True(b.t, b.offers("c0"))
	_, err := call.Start(b.t.Context(), b.sw, call.Request{Cap: capOf("bad")})
	assert.ErrorIs(b.t, err, route.ErrNoHandler)
}

// offers reports whether the switch has the cap of a cartridge.
func (r *rig) offers(name string) bool {
	return slices.ContainsFunc(r.sw.Capabilities(), func(c string) bool { return strings.HasPrefix(c, "cap:endtoend="+name+";") })
}

// checkEnd checks that both masters are healthy still, and nothing is left of any request.
func (b *badRig) checkEnd() {
	for _, m := range b.sw.Health() {
		assert.True(b.t, m.Healthy, "%+v", m)
	}
	eventually(b.t, func() bool { return len(b.sw.Stats().Requests.Active) == 0 }, "no request is active")
	eventually(b.t, func() bool {
		s := b.host.Stats()
		return s.IncomingRXIDs+s.OutgoingRIDs+s.IncomingToPeerRIDs+s.OutgoingMaxSeq == 0
	}, "the host's tables are empty")
}
