package frame

// A ReqInfo is what the meta of a REQ says to those who route it.
type ReqInfo struct {
	TargetCartridge []byte // the id of the cartridge to route to, instead of by cap; UTF-8; nil for none
	ParentRID       ID     // the request that a peer call is made for; the zero ID for none
}

var reqKeys = [...]string{"target_cartridge", "parent_rid"}

// Put adds the keys of a REQ to a meta. [MetaBuilder.Meta] fails for a target that is not UTF-8, and
// for a parent with a number of 2^63 or more.
func (r ReqInfo) Put(b *MetaBuilder) {
	b.text(reqKeys[0], r.TargetCartridge)
	switch r.ParentRID.form {
	case numberID:
		b.count(reqKeys[1], r.ParentRID.lo)
	case uuidID:
		b.begin(reqKeys[1])
		b.values = appendID(b.values, r.ParentRID)
		b.finish()
	}
}

// NewReq returns a REQ for a cap, given as its URN, which it borrows. Payload is empty: arguments
// follow as streams.
func NewReq(id ID, cap []byte) Frame {
	return Frame{Type: TypeReq, ID: id, Cap: cap, Payload: []byte{}}
}

// ReqInfo reads the meta of a REQ. What is not of its kind counts as absent. Texts are borrowed
// as the frame's are.
func (f *Frame) ReqInfo() ReqInfo {
	var v [len(reqKeys)]Value
	f.Meta.pick(reqKeys[:], v[:])
	target, _ := v[0].Text()
	return ReqInfo{target, v[1].id()}
}

// id returns an id, the zero ID for a value that is none.
func (v Value) id() ID {
	if n, ok := v.Uint(); ok {
		return Number(n)
	}
	if b, ok := v.Bytes(); ok && len(b) == 16 {
		return UUID([16]byte(b))
	}
	return ID{}
}
