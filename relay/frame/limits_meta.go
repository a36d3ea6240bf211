package frame

// Keys of limits in the meta of HELLO and RELAY_NOTIFY.
var limitKeys = [...]string{"max_frame", "max_chunk", "max_reorder_buffer", creditKey}

const creditKey = "initial_credit"

func (l Limits) put(b *MetaBuilder) {
	for i, n := range [...]uint64{l.MaxFrame, l.MaxChunk, l.MaxReorderBuffer, l.InitialCredit} {
		if n == 0 {
			b.refuse("meta %q: a limit of 0", limitKeys[i])
		}
		b.count(limitKeys[i], n)
	}
}

// limits reads the four limits, each of which has to be a positive integer. A RELAY_NOTIFY
// without initial_credit says [DefaultCredit].
func (m Meta) limits(t Type, kind Kind) (Limits, error) {
	var v [len(limitKeys)]Value
	m.pick(limitKeys[:], v[:])
	var n [len(limitKeys)]uint64
	for i, value := range v {
		if t == TypeRelayNotify && limitKeys[i] == creditKey && value.Kind() == NoValue {
			n[i] = DefaultCredit
			continue
		}
		var ok bool
		switch n[i], ok = value.Uint(); {
		case value.Kind() == NoValue:
			return Limits{}, Errorf(kind, "%v frame without meta %q", t, limitKeys[i])
		case value.Kind() != IntValue:
			return Limits{}, Errorf(kind, "%v frame: meta %q is no integer", t, limitKeys[i])
		case !ok || n[i] == 0:
			return Limits{}, Errorf(kind, "%v frame: meta %q is %s, want a positive number", t, limitKeys[i], value.integerText())
		}
	}
	return Limits{n[0], n[1], n[2], n[3]}, nil
}
