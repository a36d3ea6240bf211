package frame

// A Hello is what a HELLO frame says. Its byte strings are borrowed as the frame's are.
type Hello struct {
	Limits          Limits           // what the sender proposes
	Manifest        []byte           // JSON of a cartridge; nil from a host
	Pools           []byte           // JSON of a cartridge's pool states; nil when absent
	HandlerCapacity Optional[uint64] // for peers that know no pools: the bound of all requests, 0 for none
}

var helloKeys = [...]string{"version", metaManifest, metaPools, metaCapacity}

// Put adds the keys of a HELLO to a meta. [MetaBuilder.Meta] fails when a limit is 0, or a number
// 2^63 or more.
func (h Hello) Put(b *MetaBuilder) {
	b.Uint("version", Version)
	h.Limits.put(b)
	b.bytes(metaManifest, h.Manifest)
	b.bytes(metaPools, h.Pools)
	b.optionalCount(metaCapacity, h.HandlerCapacity)
}

// NewHello returns a HELLO. It fails with [ErrEncode] where [Hello.Put] makes a meta fail.
func NewHello(h Hello) (Frame, error) {
	meta, err := metaOf(h)
	return Frame{Type: TypeHello, ID: Number(0), Meta: meta}, err
}

// Hello reads a HELLO. It fails with [ErrHandshake] for a frame of another type, a meta version
// that is missing or not [Version], a limit that is missing or not positive, and a pool map
// that is there and is no byte string. Whether there has to be a manifest, and pools, is for
// the reader to say.
func (f *Frame) Hello() (Hello, error) {
	if err := f.want(TypeHello, ErrHandshake); err != nil {
		return Hello{}, err
	}
	var v [len(helloKeys)]Value
	f.Meta.pick(helloKeys[:], v[:])
	if err := v[0].helloVersion(); err != nil {
		return Hello{}, err
	}
	limits, err := f.Meta.limits(f.Type, ErrHandshake)
	if err != nil {
		return Hello{}, err
	}
	h := Hello{Limits: limits, HandlerCapacity: v[3].optionalUint()}
	h.Manifest, _ = v[1].Bytes()
	if h.Pools, err = v[2].pools(f.Type, ErrHandshake); err != nil {
		return Hello{}, err
	}
	return h, nil
}

// Manifest returns the JSON of a HELLO's or RELAY_NOTIFY's manifest, borrowed as the frame is,
// and false when it is missing or no byte string.
func (f *Frame) Manifest() ([]byte, bool) { return f.Meta.Bytes(metaManifest) }

func (v Value) helloVersion() error {
	if v.Kind() != IntValue {
		return Errorf(ErrHandshake, "hello frame without a version in meta, want version %d", Version)
	}
	if n, ok := v.Int(); !ok || n != Version {
		return Errorf(ErrHandshake, "hello frame of version %s in meta, want version %d", v.integerText(), Version)
	}
	return nil
}

// pools returns a pool map, nil when there is none.
func (v Value) pools(t Type, kind Kind) ([]byte, error) {
	pools, ok := v.Bytes()
	if !ok && v.Kind() != NoValue {
		return nil, Errorf(kind, "%v frame: meta %q is no byte string", t, metaPools)
	}
	return pools, nil
}
