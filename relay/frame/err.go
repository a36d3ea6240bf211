package frame

// An ErrInfo is what an ERR says. Its texts are borrowed as the frame's are.
type ErrInfo struct {
	Code        []byte      // for machines, such as NO_HANDLER; UTF-8
	Attribution Attribution // whose doing it is
	Message     []byte      // for people; UTF-8
	ArgURN      []byte      // media URN of the one argument concerned; nil for none
}

var errKeys = [...]string{metaCode, metaAttribution, metaMessage, metaArgURN}

// Put adds the keys of an ERR to a meta. [MetaBuilder.Meta] fails for a blank code, message or argument,
// a missing attribution, and a text that is not UTF-8.
func (e ErrInfo) Put(b *MetaBuilder) {
	b.notBlank(metaCode, e.Code)
	b.attribution(e.Attribution)
	b.notBlank(metaMessage, e.Message)
	if e.ArgURN != nil {
		b.notBlank(metaArgURN, e.ArgURN)
	}
}

// NewErr returns an ERR. It fails with [ErrEncode] where [ErrInfo.Put] makes a meta fail.
func NewErr(id ID, e ErrInfo) (Frame, error) {
	meta, err := metaOf(e)
	return Frame{Type: TypeErr, ID: id, Meta: meta}, err
}

// ErrInfo reads an ERR. It fails with [ErrProtocol] for a frame of another type, a code or message
// that is missing, blank or no text, an attribution that is missing or unknown, and an arg_urn
// that is blank or no text. What can be read is returned in any case, and nothing is made up for
// the rest.
func (f *Frame) ErrInfo() (ErrInfo, error) {
	if err := f.want(TypeErr, ErrProtocol); err != nil {
		return ErrInfo{}, err
	}
	var v [len(errKeys)]Value
	f.Meta.pick(errKeys[:], v[:])
	urn, err := v[3].argURN(f.Type)
	e := ErrInfo{v[0].notBlank(), v[1].class(), v[2].notBlank(), urn}
	switch {
	case e.Code == nil:
		err = missingMeta(f.Type, metaCode)
	case e.Attribution == NoAttribution:
		err = missingMeta(f.Type, metaAttribution)
	case e.Message == nil:
		err = missingMeta(f.Type, metaMessage)
	}
	return e, err
}
