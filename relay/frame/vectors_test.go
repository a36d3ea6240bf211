package frame_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"reflect"
	"testing"

	"github.com/cosim-go/cosim/relay/frame"
)

// vectors is the file of golden frames.
type vectors struct {
	About           string
	ProtocolVersion int `json:"protocol_version"`
	Valid           []validVector
	Provisional     []validVector
	Invalid         []struct {
		Name, Class, Why string
		Hex              hexBytes
		vectorNotes
	}
	Streams []struct {
		Name     string
		MaxFrame int `json:"max_frame"`
		Outcomes []string
		Hex      hexBytes
		vectorNotes
	}
}

type validVector struct {
	Name      string
	Canonical bool
	Ignored   []string
	Fields    vectorFields
	Hex       hexBytes
	vectorNotes
}

type vectorNotes struct {
	Note          string
	ReferenceGo   string `json:"reference_go"`
	ReferenceRust string `json:"reference_rust"`
}

// vectorFields are a frame's fields by the names of the file.
type vectorFields struct {
	Version     uint64
	Type        uint64
	TypeName    string    `json:"type_name"`
	ID          *vectorID `json:"id"`
	RoutingID   *vectorID `json:"routing_id"`
	Seq         uint64
	ContentType *string                `json:"content_type"`
	Meta        map[string]vectorValue // nil when absent
	Payload     *hexBytes
	Len         *uint64
	Offset      *uint64
	EOF         *bool
	Cap         *string
	StreamID    *string `json:"stream_id"`
	MediaURN    *string `json:"media_urn"`
	ChunkIndex  *uint64 `json:"chunk_index"`
	ChunkCount  *uint64 `json:"chunk_count"`
	Checksum    *uint64
	IsSequence  *bool `json:"is_sequence"`
	ForceKill   *bool `json:"force_kill"`
	Credit      *uint64
	Unbounded   *bool
}

type vectorID struct {
	UUID *string
	Uint *uint64
}

// vectorValue is a value of meta, tagged by its kind.
type vectorValue map[string]json.RawMessage

type hexBytes []byte

func (h *hexBytes) UnmarshalText(text []byte) (err error) {
	*h, err = hex.DecodeString(string(text))
	return err
}

func loadVectors(tb testing.TB) *vectors {
	tb.Helper()
	file, err := os.Open("testdata/frames.json")
	if err != nil {
		tb.Fatal(err)
	}
	defer file.Close()
	d := json.NewDecoder(file)
	d.DisallowUnknownFields()
	var v vectors
	if err := d.Decode(&v); err != nil {
		tb.Fatal(err)
	}
	if len(v.Valid) == 0 || len(v.Provisional) == 0 || len(v.Invalid) == 0 || len(v.Streams) == 0 {
		tb.Fatal("a section without cases")
	}
	return &v
}

func TestVectorsValid(t *testing.T)       { testValid(t, loadVectors(t).Valid) }
func TestVectorsProvisional(t *testing.T) { testValid(t, loadVectors(t).Provisional) }

func testValid(t *testing.T, all []validVector) {
	for _, v := range all {
		t.Run(v.Name, func(t *testing.T) {
			var f frame.Frame
			if err := frame.Decode(v.Hex, &f); err != nil {
				t.Fatalf("Decode = %v", err)
			}
			if got, want := fieldsOf(t, &f).String(), v.Fields.String(); got != want {
				t.Errorf("Decode = %s, want %s", got, want)
			}
			if head, err := frame.Check(v.Hex); err != nil || head != f.Head() {
				t.Errorf("Check = %+v, %v, want %+v", head, err, f.Head())
			}
		})
	}
}

func TestVectorsCanonical(t *testing.T) {
	v := loadVectors(t)
	for _, v := range append(v.Valid, v.Provisional...) {
		t.Run(v.Name, func(t *testing.T) {
			fromFields := v.Fields.frame(t)
			fromBody := decoded(t, v.Hex)
			rebuilt, again := encoded(t, &fromFields), encoded(t, fromBody)
			if v.Canonical && !bytes.Equal(again, v.Hex) {
				t.Errorf("Append(Decode(body)) = %x, want %x", clip(again), clip(v.Hex))
			}
			if v.Canonical && !bytes.Equal(rebuilt, v.Hex) {
				t.Errorf("Append(fields) = %x, want %x", clip(rebuilt), clip(v.Hex))
			}
			if got, want := fieldsOf(t, decoded(t, again)).String(), v.Fields.String(); got != want {
				t.Errorf("Decode(Append(Decode(body))) = %s, want %s", got, want)
			}
		})
	}
}

func TestVectorsInvalid(t *testing.T) {
	for _, v := range loadVectors(t).Invalid {
		t.Run(v.Name, func(t *testing.T) {
			var f frame.Frame
			if err := frame.Decode(v.Hex, &f); frame.KindOf(err) != frame.Kind(v.Class) {
				t.Errorf("Decode = %v of kind %q, want kind %q: %s", err, frame.KindOf(err), v.Class, v.Why)
			}
			if _, err := frame.Check(v.Hex); frame.KindOf(err) != frame.Kind(v.Class) {
				t.Errorf("Check = %v of kind %q, want kind %q: %s", err, frame.KindOf(err), v.Class, v.Why)
			}
		})
	}
}

func TestVectorsStreams(t *testing.T) {
	for _, v := range loadVectors(t).Streams {
		t.Run(v.Name, func(t *testing.T) {
			r := frame.NewReader(bytes.NewReader(v.Hex), &frame.ReaderOptions{MaxFrame: v.MaxFrame})
			if got := outcomes(r); !reflect.DeepEqual(got, v.Outcomes) {
				t.Errorf("reads = %q, want %q", got, v.Outcomes)
			}
			if _, again := r.Next(); again == nil {
				t.Error("a read after the last one brought a frame")
			}
		})
	}
}

// outcomes reads to the end and returns what each read yields.
func outcomes(r *frame.Reader) (all []string) {
	for {
		f, err := r.Next()
		switch {
		case err == io.EOF:
			return append(all, "eof")
		case err != nil:
			return append(all, "error:"+string(frame.KindOf(err)))
		}
		all = append(all, "frame:"+f.Type.String())
	}
}

// fieldsOf returns a frame as the file would state it.
func fieldsOf(tb testing.TB, f *frame.Frame) *vectorFields {
	return &vectorFields{
		Version: frame.Version, Type: uint64(f.Type), TypeName: f.Type.String(), ID: vectorIDOf(f.ID), RoutingID: vectorIDOf(f.RoutingID), Seq: f.Seq,
		ContentType: textOf(f.ContentType), Meta: metaFieldsOf(tb, f.Meta), Payload: (*hexBytes)(bytesOf(f.Payload)),
		Len: pointer(f.Len), Offset: pointer(f.Offset), EOF: pointer(f.EOF), Cap: textOf(f.Cap), StreamID: textOf(f.StreamID), MediaURN: textOf(f.MediaURN),
		ChunkIndex: pointer(f.ChunkIndex), ChunkCount: pointer(f.ChunkCount), Checksum: pointer(f.Checksum), IsSequence: pointer(f.IsSequence),
		ForceKill: pointer(f.ForceKill), Credit: pointer(f.Credit), Unbounded: pointer(f.Unbounded),
	}
}

// String returns the fields as JSON without spaces, which is the same for equal fields.
func (v *vectorFields) String() string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// frame returns the frame that the fields state.
func (v *vectorFields) frame(tb testing.TB) frame.Frame {
	f := frame.Frame{
		Type: frame.Type(v.Type), ID: v.ID.id(tb), RoutingID: v.RoutingID.id(tb), Seq: v.Seq,
		ContentType: textFrom(v.ContentType), Cap: textFrom(v.Cap), StreamID: textFrom(v.StreamID), MediaURN: textFrom(v.MediaURN),
		Len: optional(v.Len), Offset: optional(v.Offset), EOF: optional(v.EOF), ChunkIndex: optional(v.ChunkIndex), ChunkCount: optional(v.ChunkCount),
		Checksum: optional(v.Checksum), IsSequence: optional(v.IsSequence), ForceKill: optional(v.ForceKill), Credit: optional(v.Credit), Unbounded: optional(v.Unbounded),
	}
	if v.Payload != nil {
		f.Payload = *v.Payload
	}
	if v.Meta != nil {
		var b frame.MetaBuilder
		for name, value := range v.Meta {
			b.Raw(name, value.cbor(tb))
		}
		f.Meta = built(tb, &b)
	}
	return f
}

func vectorIDOf(id frame.ID) *vectorID {
	if n, ok := id.Number(); ok {
		return &vectorID{Uint: &n}
	}
	if text := id.String(); text != "" {
		return &vectorID{UUID: &text}
	}
	return nil
}

func (v *vectorID) id(tb testing.TB) frame.ID {
	switch {
	case v == nil:
		return frame.ID{}
	case v.Uint != nil:
		return frame.Number(*v.Uint)
	}
	id, err := frame.ParseID(*v.UUID)
	if err != nil {
		tb.Fatal(err)
	}
	return id
}

func bytesOf(b []byte) *[]byte {
	if b == nil {
		return nil
	}
	return &b
}

func textOf(b []byte) *string {
	if b == nil {
		return nil
	}
	s := string(b)
	return &s
}

func textFrom(s *string) []byte {
	if s == nil {
		return nil
	}
	return []byte(*s)
}

func pointer[T any](o frame.Optional[T]) *T {
	if value, ok := o.Get(); ok {
		return &value
	}
	return nil
}

func optional[T any](p *T) frame.Optional[T] {
	if p == nil {
		return frame.Optional[T]{}
	}
	return frame.Some(*p)
}
