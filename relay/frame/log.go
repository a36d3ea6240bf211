package frame

// A LogInfo is what a LOG says. Its texts are borrowed as the frame's are.
type LogInfo struct {
	Level       []byte            // info, warn, error, debug, progress, queued, dequeued, or the source's own
	Message     []byte            // for people; UTF-8
	Attribution Attribution       // none on a LOG of progress
	ArgURN      []byte            // media URN of the one argument concerned; nil for none, and for progress
	Progress    Optional[float64] // from 0 to 1, on a LOG of progress and on no other
}

// LevelProgress is the level of a LOG that carries a progress figure.
const LevelProgress = "progress"

var logKeys = [...]string{"level", metaMessage, metaAttribution, metaArgURN, metaProgress}

// Put adds the keys of a LOG to a meta; a Progress that is there makes it one of progress,
// whatever Level says. [MetaBuilder.Meta] fails for a blank level or message, a text that is not
// UTF-8, a progress that is not between 0 and 1 or missing at its level, and else for a missing
// attribution.
func (l LogInfo) Put(b *MetaBuilder) {
	b.notBlank(metaMessage, l.Message)
	if l.Progress.set {
		b.Text(logKeys[0], LevelProgress)
		b.progress(l.Progress)
		return
	}
	b.notBlank(logKeys[0], l.Level)
	if string(l.Level) == LevelProgress {
		b.refuse("a log frame of progress without a figure")
	}
	b.attribution(l.Attribution)
	if l.ArgURN != nil {
		b.notBlank(metaArgURN, l.ArgURN)
	}
}

// NewLog returns a LOG. It fails with [ErrEncode] where [LogInfo.Put] makes a meta fail. Whoever
// sends many has a [MetaBuilder] and Put, which allocate nothing.
func NewLog(id ID, l LogInfo) (Frame, error) {
	meta, err := metaOf(l)
	return Frame{Type: TypeLog, ID: id, Meta: meta}, err
}

// LogInfo reads a LOG. It fails with [ErrProtocol] for a frame of another type; for a level or
// message that is missing, blank or no text; for a LOG of progress without a number from 0 to 1;
// and for any other without a known attribution, or with an arg_urn that is blank or no text.
// What can be read is returned in any case, and nothing is made up for the rest.
func (f *Frame) LogInfo() (LogInfo, error) {
	if err := f.want(TypeLog, ErrProtocol); err != nil {
		return LogInfo{}, err
	}
	var v [len(logKeys)]Value
	f.Meta.pick(logKeys[:], v[:])
	l := LogInfo{Level: v[0].notBlank(), Message: v[1].notBlank()}
	if string(l.Level) == LevelProgress {
		l.Progress = v[4].progress()
		return l, l.missing(nil)
	}
	l.Attribution = v[2].class()
	urn, err := v[3].argURN(f.Type)
	l.ArgURN = urn
	return l, l.missing(err)
}

// missing returns an error for what a LOG has to say and does not, else err.
func (l LogInfo) missing(err error) error {
	switch {
	case l.Level == nil:
		return missingMeta(TypeLog, logKeys[0])
	case l.Message == nil:
		return missingMeta(TypeLog, metaMessage)
	case string(l.Level) == LevelProgress && !l.Progress.set:
		return missingMeta(TypeLog, metaProgress)
	case string(l.Level) != LevelProgress && l.Attribution == NoAttribution:
		return missingMeta(TypeLog, metaAttribution)
	}
	return err
}

func missingMeta(t Type, name string) error {
	return Errorf(ErrProtocol, "%v frame without a usable meta %q", t, name)
}
