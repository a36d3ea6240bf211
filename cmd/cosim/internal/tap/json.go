package tap

import (
	"encoding/json"
	"io"

	"github.com/cosim-go/cosim/relay/relaytest"
)

// An eventLine is an event as a line of JSON.
type eventLine struct {
	Connection int            `json:"connection"`
	Event      EventKind      `json:"event"`
	Direction  Direction      `json:"direction,omitempty"`
	Offset     *int64         `json:"offset,omitempty"`
	Bytes      *int           `json:"bytes,omitempty"`
	Fields     map[string]any `json:"fields,omitempty"`
	Payload    *int           `json:"payload_bytes,omitempty"`
	Error      string         `json:"error,omitempty"`
}

// JSON returns a report that writes each event to out as a line of JSON. The fields of a frame
// are written as vectors state them; the payload is cut to [PayloadShown] bytes unless full.
func JSON(out io.Writer, full bool) func(Event) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	return func(e Event) error {
		line := eventLine{Connection: e.Connection, Event: e.Kind, Direction: e.Direction}
		if e.Direction != "" {
			line.Offset = &e.Offset
		}
		if e.Kind == Frame || e.Kind == Cut {
			line.Bytes = &e.Bytes
		}
		if e.Err != nil {
			line.Error = e.Err.Error()
		}
		if f := e.Frame; f != nil {
			size, shown := len(f.Payload), *f
			if shown.Payload != nil {
				line.Payload = &size
			}
			if !full && size > PayloadShown {
				shown.Payload = shown.Payload[:PayloadShown]
			}
			line.Fields = relaytest.VectorFields(&shown)
		}
		return encoder.Encode(line)
	}
}
