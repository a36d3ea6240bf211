package frame

// An EndInfo is what the meta of an END says of the whole response.
type EndInfo struct {
	ExitCode Optional[int64]   // 0 for success
	Progress Optional[float64] // the last progress, from 0 to 1
	Message  []byte            // the last status; UTF-8; nil for none
}

var endKeys = [...]string{"exit_code", metaProgress, metaMessage}

// Succeeded reports whether the request did what was asked: the exit code is there and 0.
func (e EndInfo) Succeeded() bool {
	code, ok := e.ExitCode.Get()
	return ok && code == 0
}

// FinalProgress returns the last progress. Success without one means 1; a failure may have none.
func (e EndInfo) FinalProgress() (progress float64, ok bool) {
	if !e.Progress.set && e.Succeeded() {
		return 1, true
	}
	return e.Progress.Get()
}

// Put adds the keys of an END to a meta. [MetaBuilder.Meta] fails for a progress that is not between
// 0 and 1, and a message that is not UTF-8.
func (e EndInfo) Put(b *MetaBuilder) {
	b.optionalInt(endKeys[0], e.ExitCode)
	b.progress(e.Progress)
	b.text(metaMessage, e.Message)
}

// NewBodyEnd returns the END of a request body, which has nothing to say. It allocates nothing.
func NewBodyEnd(id ID) Frame { return Frame{Type: TypeEnd, ID: id, EOF: Some(true)} }

// NewEnd returns the END of a response. It fails with [ErrEncode] where [EndInfo.Put] makes a
// meta fail. An exit code of 0 alone makes it allocate nothing.
func NewEnd(id ID, e EndInfo) (Frame, error) {
	f := NewBodyEnd(id)
	if e.Succeeded() && !e.Progress.set && e.Message == nil {
		f.Meta = successMeta
		return f, nil
	}
	meta, err := metaOf(e)
	f.Meta = meta
	return f, err
}

// successMeta is the meta of an END with exit code 0 and nothing else.
var successMeta = fixedMeta(EndInfo{ExitCode: Some[int64](0)})

// EndInfo reads the meta of an END. What is not of its kind, and a progress that is not between
// 0 and 1, counts as absent. The message is borrowed as the frame's texts are.
func (f *Frame) EndInfo() EndInfo {
	var v [len(endKeys)]Value
	f.Meta.pick(endKeys[:], v[:])
	message, _ := v[2].Text()
	return EndInfo{v[0].optionalInt(), v[1].progress(), message}
}

// progress returns a number between 0 and 1; anything else is absent.
func (v Value) progress() Optional[float64] {
	if n := v.optionalNumber(); n.set && validProgress(n.value) {
		return n
	}
	return Optional[float64]{}
}

func (b *MetaBuilder) progress(p Optional[float64]) {
	if !p.set {
		return
	}
	if !validProgress(p.value) {
		b.refuse("meta %q: %v is not between 0 and 1", metaProgress, p.value)
	}
	b.Float(metaProgress, p.value)
}

func validProgress(p float64) bool { return p >= 0 && p <= 1 }

// fixedMeta returns a meta that is the same for ever.
func fixedMeta(p putter) Meta {
	meta, err := metaOf(p)
	if err != nil {
		panic("frame: " + err.Error())
	}
	return meta
}
