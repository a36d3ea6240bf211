package manifest

import (
	"cmp"
	"strings"
)

// An Install is the identity of an installed cartridge. It is comparable.
type Install struct {
	Registry    string // where it was published; "" without HasRegistry
	HasRegistry bool   // false for what was built locally
	Channel     string // ChannelRelease or ChannelNightly; "" is written as ChannelRelease
	ID          string
	Version     string
	SHA256      string // hex; "" when it could not be computed
}

// The channels that a cartridge is published in.
const (
	ChannelRelease = "release"
	ChannelNightly = "nightly"
)

// Compare orders installs: by id, version, channel, registry (none first) and hash, each as bytes. It
// returns a number below, at or above 0.
func (i Install) Compare(other Install) int {
	return cmp.Or(
		strings.Compare(i.ID, other.ID),
		strings.Compare(i.Version, other.Version),
		strings.Compare(i.Channel, other.Channel),
		compareBool(i.HasRegistry, other.HasRegistry),
		strings.Compare(i.Registry, other.Registry),
		strings.Compare(i.SHA256, other.SHA256),
	)
}

// String returns what a reader tells it by, such as "demo 1.2.3 (release)". Installs that differ in their
// registry or hash alone read the same.
func (i Install) String() string { return i.ID + " " + i.Version + " (" + i.Channel + ")" }

func orRelease(channel string) string {
	if channel == "" {
		return ChannelRelease
	}
	return channel
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

func (i Install) appendMembers(o *object) {
	o.nullable("registry_url", i.Registry, i.HasRegistry)
	o.text("channel", orRelease(i.Channel))
	o.text("id", i.ID)
	o.text("version", i.Version)
	o.text("sha256", i.SHA256)
}
