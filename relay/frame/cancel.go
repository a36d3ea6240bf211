package frame

// A CancelReason says why a request is cancelled. The zero value gives no reason, which is one
// too. Its texts are borrowed as the frame's are.
type CancelReason struct {
	Code        []byte      // for machines, such as CANCELLED; UTF-8; nil for none
	Attribution Attribution // whose doing it is
	Message     []byte      // for people; UTF-8; nil for none
}

var cancelKeys = [...]string{metaCode, metaAttribution, metaMessage}

// Put adds the keys of a CANCEL to a meta; what is empty is left out. [MetaBuilder.Meta] fails for a text
// that is not UTF-8.
func (r CancelReason) Put(b *MetaBuilder) {
	if len(r.Code) > 0 {
		b.text(metaCode, r.Code)
	}
	if r.Attribution != NoAttribution {
		b.attribution(r.Attribution)
	}
	if len(r.Message) > 0 {
		b.text(metaMessage, r.Message)
	}
}

// NewCancel returns a CANCEL of a request; force kills the process that serves it. It fails with
// [ErrEncode] where [CancelReason.Put] makes a meta fail.
func NewCancel(id ID, force bool, r CancelReason) (Frame, error) {
	meta, err := metaOf(r)
	return Frame{Type: TypeCancel, ID: id, ForceKill: Some(force), Meta: meta}, err
}

// CancelReason reads the reason in a CANCEL. An empty text, one that is not of its kind and an
// unknown attribution count as absent.
func (f *Frame) CancelReason() CancelReason {
	var v [len(cancelKeys)]Value
	f.Meta.pick(cancelKeys[:], v[:])
	return CancelReason{v[0].notEmpty(), v[1].class(), v[2].notEmpty()}
}

// notEmpty returns a text that is not empty, else nil.
func (v Value) notEmpty() []byte {
	if text, _ := v.Text(); len(text) > 0 {
		return text
	}
	return nil
}
