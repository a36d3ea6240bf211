package interop

import (
	"encoding/json"
	"fmt"
	"net"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/frame"
)

// bareHostOf starts their switch and connects to it as its one host, which announces itself.
func bareHostOf(t *testing.T, p *peer, policy, announced string, flags ...string) (*theirEngine, *bareEnd) {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "switch")
	e := startEngine(t, p, policy, socket, 1, flags...)
	conn, err := net.Dial("unix", socket)
	require.NoError(t, err)
	b := bare(t, conn)
	b.send(t, notifyFrame(t, announced, frame.DefaultLimits()))
	return e, b
}

// inventory is what a host announces: one cartridge with identity, and members of its record.
func inventory(members string) string {
	return fmt.Sprintf(`{"installed_cartridges": [{"registry_url": null, "channel": "release", "id": "a", "version": "1", "sha256": "",
		"cap_groups": [{"name": "default", "caps": [{"urn": %q, "title": "identity", "aliases": ["identity"]}]}]%s}]}`, identity, members)
}

const stats = `, "runtime_stats": {"running": false, "pools": {}}`

// Their switch checks a host before it gives out routing ids, with a request that has none; all
// its frames have the number 0, here and later. An ERR without routing id, which is how their host
// says that a cartridge died, comes back to the host.
func TestWhatTheirSwitchDoes(t *testing.T) {
	t.Parallel()
	e, b := bareHostOf(t, findPeer(t, envV4), "", inventory(stats))
	whole := []frame.Type{frame.TypeReq, frame.TypeStreamStart, frame.TypeChunk, frame.TypeStreamEnd, frame.TypeEnd}
	for _, want := range whole {
		f, err := b.Next()
		require.NoError(t, err)
		require.Equal(t, want, f.Type)
		assert.True(t, f.RoutingID.IsZero(), f.RoutingID)
		assert.Zero(t, f.Seq)
		if want == frame.TypeChunk { // 32 random bytes as a CBOR byte string
			require.Len(t, f.Payload, 34)
			assert.Equal(t, []byte{0x58, 0x20}, f.Payload[:2])
		}
		if want != frame.TypeReq {
			b.send(t, f)
		}
	}
	require.Equal(t, []string{identity}, e.caps(t))

	require.NoError(t, json.NewEncoder(e.stdin).Encode(invocation{Cap: identity, Media: "media:", Body: []byte("x")}))
	var id, xid frame.ID
	for _, want := range whole {
		f, err := b.Next()
		require.NoError(t, err)
		require.Equal(t, want, f.Type)
		_, number := f.RoutingID.Number()
		assert.True(t, number, f.RoutingID)
		assert.Zero(t, f.Seq)
		id, xid = f.ID, f.RoutingID
	}
	died, err := frame.NewErr(id, frame.ErrInfo{Code: []byte("CARTRIDGE_DIED"), Attribution: frame.AttributionEnvironment, Message: []byte("m")})
	require.NoError(t, err)
	b.send(t, &died)
	back, err := b.Next()
	require.NoError(t, err)
	died.RoutingID = xid
	assert.Equal(t, &died, back)
}

// What their switch makes of a record that it cannot read ends the relay, so our host must not
// announce it.
func TestTheirSwitchRefusesRecords(t *testing.T) {
	t.Parallel()
	const failed = `, "attachment_error": {"kind": %q, "message": "m", "detected_at_unix_seconds": 1}`
	for _, c := range []struct{ name, members, want string }{
		{"without runtime_stats", "", "ProtocolError: cartridge 'a' on master 0 is missing mandatory v4 runtime_stats"},
		{"with a kind of error that it calls by two others", stats + fmt.Sprintf(failed, "registry_unreachable"), "ValueError: 'registry_unreachable' is not a valid CartridgeAttachmentErrorKind"},
		{"with a kind of error that it calls otherwise", stats + fmt.Sprintf(failed, "bad_installation"), "ValueError: 'bad_installation' is not a valid CartridgeAttachmentErrorKind"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e, b := bareHostOf(t, findPeer(t, envV4), "", inventory(c.members))
			go b.answerChecks()
			var line struct{ Error string }
			require.NoError(t, e.lines.Decode(&line))
			assert.Equal(t, c.want, line.Error)
		})
	}
}

// answerChecks is a host that echoes what it is sent.
func (b *bareEnd) answerChecks() {
	for {
		f, err := b.Next()
		if err != nil || f.Type == frame.TypeReq {
			if err != nil {
				return
			}
			continue
		}
		if b.Write(f) != nil || b.Flush() != nil {
			return
		}
	}
}
