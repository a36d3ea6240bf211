package response

import (
	"encoding/json"
	"io"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/frame"
)

// Events prints events of a response as lines of JSON.
type Events struct {
	out    *json.Encoder
	inline bool
}

// NewEvents returns Events that print to out. With inline, data and items are in the lines; else their sizes alone.
func NewEvents(out io.Writer, inline bool) *Events {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	return &Events{e, inline}
}

// A line is an event as it is printed.
type line struct {
	Event       string   `json:"event"` // start, data, item, end, log, progress; at last success or error
	Stream      *string  `json:"stream,omitempty"`
	Media       string   `json:"media,omitempty"`
	Sequence    *bool    `json:"is_sequence,omitempty"`
	Unbounded   bool     `json:"unbounded,omitempty"`
	Bytes       *int     `json:"bytes,omitempty"`      // of data, or of an item's CBOR
	Data        []byte   `json:"data,omitempty"`       // base64; of data, and of an item that is bytes
	Text        *string  `json:"text,omitempty"`       // of an item that is a text
	Diagnostic  string   `json:"diagnostic,omitempty"` // of any other item
	Level       string   `json:"level,omitempty"`
	Code        string   `json:"code,omitempty"`
	Attribution string   `json:"attribution_class,omitempty"`
	Message     string   `json:"message,omitempty"`
	ArgURN      string   `json:"arg_urn,omitempty"`
	Progress    *float64 `json:"progress,omitempty"`
}

// Event prints an event.
func (p *Events) Event(e *call.Event) error {
	var l line
	if e.Stream != nil {
		l.Stream = &e.Stream.ID
	}
	switch e.Kind {
	case call.EventStart:
		l.Event, l.Media, l.Unbounded = "start", e.Stream.Media, e.Stream.Unbounded
		if sequence, ok := e.Stream.Sequence.Get(); ok {
			l.Sequence = &sequence
		}
	case call.EventData:
		size := len(e.Data)
		l.Event, l.Bytes = "data", &size
		if p.inline {
			l.Data = e.Data
		}
	case call.EventItem:
		size := len(e.Item.CBOR)
		l.Event, l.Bytes = "item", &size
		if p.inline {
			l.item(e.Item.CBOR)
		}
	case call.EventEnd:
		l.Event = "end"
	case call.EventLog:
		l.Event, l.Level, l.Message, l.ArgURN = "log", e.Log.Level, e.Log.Message, e.Log.ArgURN
		l.Attribution = e.Log.Attribution.String()
	case call.EventProgress:
		l.Event, l.Message, l.Progress = "progress", e.Log.Message, &e.Progress
	}
	return p.out.Encode(l)
}

func (l *line) item(item []byte) {
	bytes, text, other := value(item)
	switch {
	case bytes != nil:
		l.Data = bytes
	case other != "":
		l.Diagnostic = other
	default:
		l.Text = &text
	}
}

// Success prints the end of a response that did what was asked.
func (p *Events) Success(info frame.EndInfo) error {
	l := line{Event: "success", Message: string(info.Message)}
	if progress, ok := info.FinalProgress(); ok {
		l.Progress = &progress
	}
	return p.out.Encode(l)
}

// Failure prints the end of a response that failed.
func (p *Events) Failure(e *call.Error) error {
	return p.out.Encode(line{Event: "error", Code: e.Code, Attribution: e.Attribution.String(), Message: e.Message, ArgURN: e.ArgURN})
}
