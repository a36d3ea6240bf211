package frame

// A Heartbeat is what the meta of a HEARTBEAT says: a probe of a host, or a cartridge's answer to
// one. Its byte strings are borrowed as the frame's are.
type Heartbeat struct {
	DesiredCapacities []byte // of a probe: JSON object of pool names and numbers; nil for none
	ResourceState     []byte // of a probe: this cartridge's part of RelayState; nil for none

	Pools           []byte           // of an answer: JSON of the pool states; nil when absent
	HandlerCapacity Optional[uint64] // of an answer, for peers that know no pools
	FootprintMB     Optional[uint64] // of an answer: memory footprint, in MiB
	RSSMB           Optional[uint64] // of an answer: resident memory, in MiB
	Drops           Optional[uint64] // of an answer: frames lost since the start
	Stragglers      Optional[uint64] // of an answer: late frames since the start
	Overruns        Optional[uint64] // of an answer: overruns of live feeds since the start
}

var heartbeatKeys = [...]string{
	"desired_capacities", "resource_state", metaPools, metaCapacity, "footprint_mb", "rss_mb",
	"drops_total", "stragglers_total", "overruns_total",
}

// Put adds the keys of a HEARTBEAT to a meta. [MetaBuilder.Meta] fails for a number of 2^63 or more.
func (h Heartbeat) Put(b *MetaBuilder) {
	for i, value := range [...][]byte{h.DesiredCapacities, h.ResourceState, h.Pools} {
		b.bytes(heartbeatKeys[i], value)
	}
	numbers := [...]Optional[uint64]{
		h.HandlerCapacity, h.FootprintMB, h.RSSMB, h.Drops, h.Stragglers, h.Overruns,
	}
	for i, n := range numbers {
		b.optionalCount(heartbeatKeys[3+i], n)
	}
}

// NewHeartbeat returns a HEARTBEAT: a probe with a fresh id, or an answer with the id of its
// probe. The zero Heartbeat makes it one without meta. It fails with [ErrEncode] where
// [Heartbeat.Put] makes a meta fail.
func NewHeartbeat(id ID, h Heartbeat) (Frame, error) {
	meta, err := metaOf(h)
	return Frame{Type: TypeHeartbeat, ID: id, Meta: meta}, err
}

// Heartbeat reads the meta of a HEARTBEAT. It fails with [ErrProtocol] for a frame of another
// type, and a pool map that is no byte string; anything else that is not of its kind counts as
// absent.
func (f *Frame) Heartbeat() (Heartbeat, error) {
	if err := f.want(TypeHeartbeat, ErrProtocol); err != nil {
		return Heartbeat{}, err
	}
	var v [len(heartbeatKeys)]Value
	f.Meta.pick(heartbeatKeys[:], v[:])
	pools, err := v[2].pools(f.Type, ErrProtocol)
	h := Heartbeat{
		Pools:           pools,
		HandlerCapacity: v[3].optionalUint(),
		FootprintMB:     v[4].optionalUint(),
		RSSMB:           v[5].optionalUint(),
		Drops:           v[6].optionalUint(),
		Stragglers:      v[7].optionalUint(),
		Overruns:        v[8].optionalUint(),
	}
	h.DesiredCapacities, _ = v[0].Bytes()
	h.ResourceState, _ = v[1].Bytes()
	return h, err
}
