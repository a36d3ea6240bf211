package manifest

import (
	"encoding/json"
	"iter"
)

// A Record is an installed cartridge as its host announces it.
type Record struct {
	Install         Install
	Groups          []CapGroup
	AttachmentError *AttachmentError // why it cannot be used; nil when it can
	Stats           *RuntimeStats    // nil when the host tells none
	Lifecycle       Lifecycle        // "" is LifecycleDiscovered
	Extra           map[string]json.RawMessage
}

// A Lifecycle is how far a host is with a cartridge. Whether requests are routed to it does not depend on
// that. One that is none of the constants is kept as it came.
type Lifecycle string

// The stages of a cartridge.
const (
	LifecycleDiscovered  Lifecycle = "discovered"
	LifecycleInspecting  Lifecycle = "inspecting"
	LifecycleVerifying   Lifecycle = "verifying"
	LifecycleOperational Lifecycle = "operational"
)

// An AttachmentError is why a cartridge cannot be used.
type AttachmentError struct {
	Kind       AttachmentKind
	Message    string
	DetectedAt int64 // seconds since 1970
	Extra      map[string]json.RawMessage
}

// An AttachmentKind is a class of reasons why a cartridge cannot be used. One that is none of the constants
// is kept as it came.
type AttachmentKind string

// The kinds of attachment errors.
const (
	Incompatible          AttachmentKind = "incompatible"
	ManifestInvalid       AttachmentKind = "manifest_invalid"
	HandshakeFailed       AttachmentKind = "handshake_failed"
	IdentityRejected      AttachmentKind = "identity_rejected"
	EntryPointMissing     AttachmentKind = "entry_point_missing"
	Quarantined           AttachmentKind = "quarantined"
	BadInstallation       AttachmentKind = "bad_installation"
	Disabled              AttachmentKind = "disabled"
	RegistryUnreachable   AttachmentKind = "registry_unreachable"
	FabricVersionMismatch AttachmentKind = "fabric_manifest_version_mismatch"
)

// RuntimeStats are figures of a cartridge's process. The zero value is that of one that was never started.
type RuntimeStats struct {
	Running        bool
	Pools          Pools
	PID            *uint64
	ActiveRequests uint64 // requests that it serves
	PeerRequests   uint64 // requests that it made
	FootprintMB    uint64 // memory, in MiB
	RSSMB          uint64 // resident memory, in MiB
	LastHeartbeat  *int64 // seconds since 1970; nil before the first answer
	Restarts       uint64
	Drops          *uint64 // frames lost since its start, by its own account; nil when it does not say
	Stragglers     *uint64 // late frames, likewise
	Overruns       *uint64 // overruns of live feeds, likewise
	Extra          map[string]json.RawMessage
}

// Caps returns the caps of the groups in their order, also those of a cartridge that cannot be used.
func (r *Record) Caps() iter.Seq[*Cap] { return capsOf(r.Groups) }

func capsOf(groups []CapGroup) iter.Seq[*Cap] {
	return func(yield func(*Cap) bool) {
		for i := range groups {
			for j := range groups[i].Caps {
				if !yield(&groups[i].Caps[j]) {
					return
				}
			}
		}
	}
}

func (r *Record) append(dst []byte) []byte {
	o := newObject(dst)
	r.Install.appendMembers(o)
	o.key("cap_groups")
	o.dst = appendGroups(o.dst, r.Groups)
	if r.AttachmentError != nil {
		o.key("attachment_error")
		o.dst = r.AttachmentError.append(o.dst)
	}
	if r.Stats != nil {
		o.key("runtime_stats")
		o.dst = r.Stats.append(o.dst)
	}
	stage := r.Lifecycle
	if stage == "" {
		stage = LifecycleDiscovered
	}
	o.text("lifecycle", string(stage))
	o.extra(r.Extra)
	return o.end()
}

func (e *AttachmentError) append(dst []byte) []byte {
	o := newObject(dst)
	o.text("kind", string(e.Kind))
	o.text("message", e.Message)
	o.signed("detected_at_unix_seconds", e.DetectedAt)
	o.extra(e.Extra)
	return o.end()
}

func (s *RuntimeStats) append(dst []byte) []byte {
	o := newObject(dst)
	o.boolean("running", s.Running)
	o.key("pools")
	o.dst = s.Pools.AppendJSON(o.dst)
	o.optional("pid", s.PID)
	o.number("active_request_count", s.ActiveRequests)
	o.number("peer_request_count", s.PeerRequests)
	o.number("memory_footprint_mb", s.FootprintMB)
	o.number("memory_rss_mb", s.RSSMB)
	if s.LastHeartbeat != nil {
		o.signed("last_heartbeat_unix_seconds", *s.LastHeartbeat)
	}
	o.number("restart_count", s.Restarts)
	o.optional("protocol_drops_total", s.Drops)
	o.optional("protocol_stragglers_total", s.Stragglers)
	o.optional("protocol_overruns_total", s.Overruns)
	o.extra(s.Extra)
	return o.end()
}
