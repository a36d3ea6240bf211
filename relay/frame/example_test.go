package frame_test

import (
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/cosim-go/cosim/relay/frame"
)

// One body, without a stream: Append encodes, Decode reads, Check only tests.
func Example() {
	request := frame.Number(7)
	chunk := frame.NewChunk(request, []byte("arg0"), 0, []byte("hello"), 0xa430d84680aabd0b)
	body, err := chunk.Append(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d bytes: %x\n", len(body), body)

	var f frame.Frame
	if err := frame.Decode(body, &f); err != nil {
		fmt.Println(err)
		return
	}
	index, _ := f.ChunkIndex.Get()
	fmt.Printf("%v %d of stream %s: %s\n", f.Type, index, f.StreamID, f.Payload)

	_, err = frame.Check(body[:20])
	fmt.Println(errors.Is(err, frame.ErrDecode), err)
	// Output:
	// 34 bytes: a80004010302070300064568656c6c6f0b64617267300e00101ba430d84680aabd0b
	// chunk 0 of stream arg0: hello
	// true offset 20: the body ends within an item
}

// A writer and a reader at the two ends of a connection. The reader flushes what was written
// because of the frames so far before it waits for more.
func ExampleReader() {
	client, server := net.Pipe()
	go func() { // answers each probe
		out := frame.NewWriter(server, nil)
		in := frame.NewReader(server, &frame.ReaderOptions{Idle: out.Flush})
		for {
			probe, err := in.Next()
			if err != nil {
				server.Close()
				return
			}
			answer, _ := frame.NewHeartbeat(probe.ID, frame.Heartbeat{RSSMB: frame.Some[uint64](300)})
			out.Write(&answer)
		}
	}()

	out := frame.NewWriter(client, nil)
	probe, _ := frame.NewHeartbeat(frame.Number(1), frame.Heartbeat{})
	if err := out.Write(&probe); err != nil {
		fmt.Println(err)
	}
	if err := out.Flush(); err != nil {
		fmt.Println(err)
	}
	in := frame.NewReader(client, nil)
	answer, err := in.Next()
	if err != nil {
		fmt.Println(err)
		return
	}
	h, err := answer.Heartbeat()
	fmt.Println(answer.Type, answer.ID, h.RSSMB.Or(0), err)
	client.Close()
	// Output: heartbeat 1 300 <nil>
}

// Frames that arrive one after the other borrow from the reader's buffer; Clone keeps one.
func ExampleFrame_Clone() {
	near, far := net.Pipe()
	go func() {
		w := frame.NewWriter(far, nil)
		for _, state := range []string{"first", "second"} {
			f := frame.NewRelayState([]byte(state))
			w.Write(&f)
		}
		w.Flush()
		far.Close()
	}()
	r := frame.NewReader(near, nil)
	var kept []*frame.Frame
	for {
		f, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		kept = append(kept, f.Clone())
	}
	for _, f := range kept {
		fmt.Println(f.Type, string(f.Payload))
	}
	// Output:
	// relay_state first
	// relay_state second
}

// Meta of an own kind; a builder that is reset and used again allocates nothing.
func ExampleMetaBuilder() {
	var b frame.MetaBuilder
	b.Int("sample_rate", 48000)
	b.Text("title", "mic")
	b.Any("channels", []string{"left", "right"})
	meta, err := b.Meta()
	if err != nil {
		fmt.Println(err)
		return
	}
	start := frame.NewStreamStart(frame.Number(7), []byte("mic"), []byte("media:audio"))
	start.Meta = meta

	for name, value := range start.Meta.All() {
		fmt.Printf("%s: %x\n", name, value.Raw())
	}
	rate, ok := start.Meta.Int("sample_rate")
	fmt.Println(rate, ok)
	// Output:
	// channels: 82646c656674657269676874
	// sample_rate: 19bb80
	// title: 636d6963
	// 48000 true
}

// What an ERR says, and what is wrong with one that says too little.
func ExampleFrame_ErrInfo() {
	f, err := frame.NewErr(frame.Number(7), frame.ErrInfo{
		Code: []byte("NO_HANDLER"), Attribution: frame.AttributionEnvironment, Message: []byte("nobody serves this cap"),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	e, err := f.ErrInfo()
	fmt.Printf("%s (%v): %s, %v\n", e.Code, e.Attribution, e.Message, err)

	f.Meta = frame.Meta{}
	e, err = f.ErrInfo()
	fmt.Printf("%q: %v, %v\n", e.Attribution, err, frame.KindOf(err))
	// Output:
	// NO_HANDLER (environment): nobody serves this cap, <nil>
	// "": err frame without a usable meta "code", protocol
}
