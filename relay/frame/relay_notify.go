package frame

// A Notify is what a RELAY_NOTIFY says of a host.
type Notify struct {
	Manifest []byte // JSON of what the host offers; borrowed as the frame's fields are
	Limits   Limits // what the host's cartridges can take
}

// Put adds the keys of a RELAY_NOTIFY to a meta, initial_credit always. [MetaBuilder.Meta] fails when
// a limit is 0, or 2^63 or more.
func (n Notify) Put(b *MetaBuilder) {
	b.Bytes(metaManifest, n.Manifest)
	n.Limits.put(b)
}

// NewRelayNotify returns a RELAY_NOTIFY. It fails with [ErrEncode] where [Notify.Put] makes a
// meta fail.
func NewRelayNotify(n Notify) (Frame, error) {
	meta, err := metaOf(n)
	return Frame{Type: TypeRelayNotify, ID: Number(0), Meta: meta}, err
}

// Notify reads a RELAY_NOTIFY as the first of a connection has to be. It fails with [ErrProtocol]
// for a frame of another type, a manifest that is missing or no byte string, and where
// [Frame.NotifyLimits] fails.
func (f *Frame) Notify() (Notify, error) {
	limits, err := f.NotifyLimits()
	if err != nil {
		return Notify{}, err
	}
	manifest, ok := f.Manifest()
	if !ok {
		return Notify{}, missingMeta(f.Type, metaManifest)
	}
	return Notify{manifest, limits}, nil
}

// NotifyLimits reads the limits of a RELAY_NOTIFY. It fails with [ErrProtocol] for a frame of
// another type, and a limit that is missing or no positive integer. An initial_credit that is
// missing reads as [DefaultCredit].
func (f *Frame) NotifyLimits() (Limits, error) {
	if err := f.want(TypeRelayNotify, ErrProtocol); err != nil {
		return Limits{}, err
	}
	return f.Meta.limits(f.Type, ErrProtocol)
}
