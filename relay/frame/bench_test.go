package frame_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/fxamacker/cbor/v2"

	"github.com/cosim-go/cosim/relay/frame"
)

// Each benchmark also reports what its time is in terms of another way to do the work: the
// median of interleaved samples, so that what else the machine does cancels out.
//
//	x/memcpy     times the cost of copying the same bytes
//	x/1KiB       times the cost of a CHUNK with a payload of 1 KiB
//	x/raw        times the cost of length-prefixed bytes through bufio over the same kind of socket
//	fxamacker/x  how many times longer the struct codec of fxamacker/cbor takes, its buffer reused

// benchSizes are the payloads of CHUNKs.
var benchSizes = []struct {
	name string
	size int
}{{"payload=64B", 64}, {"payload=1KiB", 1 << 10}, {"payload=64KiB", 64 << 10}, {"payload=256KiB", 256 << 10}}

// benchFrames are small frames of the types that are frequent.
func benchFrames(tb testing.TB) []sample {
	log, err := frame.NewLog(sampleID, frame.LogInfo{Message: []byte("half"), Progress: frame.Some(0.5)})
	if err != nil {
		tb.Fatal(err)
	}
	end, err := frame.NewEnd(sampleID, frame.EndInfo{ExitCode: frame.Some[int64](0)})
	if err != nil {
		tb.Fatal(err)
	}
	req := frame.NewReq(sampleID, []byte("cap:effect=none"))
	req.ContentType = []byte("application/cbor")
	all := []sample{
		{"type=req", req}, {"type=log", log}, {"type=end", end},
		{"type=credit", frame.NewCredit(sampleID, []byte("6f1d0c1e-4b1a-4c55-9d57-2b7c1c0e4a11"), 16, frame.ResponseDirection)},
	}
	for i := range all {
		all[i].frame.RoutingID, all[i].frame.Seq = sampleXID, 17
	}
	return all
}

// timed returns how long a call takes, from as many calls as take a few milliseconds.
func timed(call func()) time.Duration {
	const sample = 3 * time.Millisecond
	begin, n := time.Now(), 0
	for time.Since(begin) < sample {
		call()
		n++
	}
	return time.Since(begin) / time.Duration(n)
}

// ratio returns the median of a's time over b's.
func ratio(a, b func()) float64 {
	all := make([]float64, 9)
	for i := range all {
		all[i] = float64(timed(a)) / float64(timed(b))
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// batch makes one call of many, so that reading the clock costs nothing.
func batch(call func()) func() {
	return func() {
		for range 100 {
			call()
		}
	}
}

// measure runs a benchmark whose work is call, on a number of bytes, and reports ratios.
func measure(b *testing.B, size int, call func(), report func()) {
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		call()
	}
	b.StopTimer()
	report()
}

func BenchmarkEncode(b *testing.B) {
	for _, c := range benchSizes {
		b.Run(c.name, func(b *testing.B) {
			f := chunk(c.size)
			body := encoded(b, &f)
			buf, copied := make([]byte, 0, len(body)), make([]byte, len(body))
			encode := func() { buf, _ = f.Append(buf[:0]) }
			measure(b, len(body), encode, func() {
				b.ReportMetric(ratio(batch(encode), batch(func() { copy(copied, body) })), "x/memcpy")
				if c.size <= 1<<10 {
					b.ReportMetric(ratio(batch(fxamackerEncoder(b, &f)), batch(encode)), "fxamacker/x")
				}
			})
		})
	}
	for _, s := range benchFrames(b) {
		b.Run(s.name, func(b *testing.B) {
			buf := encoded(b, &s.frame)
			encode := func() { buf, _ = s.frame.Append(buf[:0]) }
			measure(b, len(buf), encode, func() {
				b.ReportMetric(ratio(batch(fxamackerEncoder(b, &s.frame)), batch(encode)), "fxamacker/x")
			})
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	reference := chunk(1 << 10)
	benchRead(b, encoded(b, &reference), func(body []byte) func() {
		var f frame.Frame
		return func() { frame.Decode(body, &f) }
	})
}

func BenchmarkCheck(b *testing.B) {
	reference := chunk(1 << 10)
	benchRead(b, encoded(b, &reference), func(body []byte) func() {
		return func() { frame.Check(body) }
	})
}

// benchRead benchmarks a way to read bodies.
func benchRead(b *testing.B, reference []byte, reader func(body []byte) func()) {
	for _, c := range benchSizes {
		b.Run(c.name, func(b *testing.B) {
			f := chunk(c.size)
			body := encoded(b, &f)
			read := reader(body)
			measure(b, len(body), read, func() {
				b.ReportMetric(ratio(batch(read), batch(reader(reference))), "x/1KiB")
				if c.size <= 1<<10 {
					b.ReportMetric(ratio(batch(fxamackerDecoder(b, body)), batch(read)), "fxamacker/x")
				}
			})
		})
	}
	for _, s := range benchFrames(b) {
		b.Run(s.name, func(b *testing.B) {
			body := encoded(b, &s.frame)
			read := reader(body)
			measure(b, len(body), read, func() {
				b.ReportMetric(ratio(batch(fxamackerDecoder(b, body)), batch(read)), "fxamacker/x")
			})
		})
	}
}

// BenchmarkHop sends CHUNKs from a Writer over a Unix socket to a Reader that decodes them.
func BenchmarkHop(b *testing.B) {
	for _, c := range benchSizes {
		b.Run(c.name, func(b *testing.B) {
			f := chunk(c.size)
			size := len(encoded(b, &f))
			ours, raw := frameHop(b, &f), rawHop(b, encoded(b, &f))
			b.SetBytes(int64(size))
			b.ReportAllocs()
			b.ResetTimer()
			ours(b.N)
			b.StopTimer()
			frames := 1 + 4<<20/size // some milliseconds
			ours(frames)
			raw(frames)
			all := make([]float64, 9)
			for i := range all {
				all[i] = float64(since(func() { ours(frames) })) / float64(since(func() { raw(frames) }))
			}
			slices.Sort(all)
			b.ReportMetric(all[len(all)/2], "x/raw")
		})
	}
}

func since(call func()) time.Duration {
	begin := time.Now()
	call()
	return time.Since(begin)
}

// frameHop returns a function that sends some frames over a socket and waits for all of them.
func frameHop(b *testing.B, f *frame.Frame) func(frames int) {
	near, far := socketPair(b)
	w, r := frame.NewWriter(near, nil), frame.NewReader(far, nil)
	done := make(chan error)
	todo := make(chan int)
	b.Cleanup(func() { close(todo) })
	go func() {
		for n := range todo {
			var err error
			for range n {
				if _, err = r.Next(); err != nil {
					break
				}
			}
			done <- err
		}
	}()
	return func(frames int) {
		todo <- frames
		for range frames {
			if err := w.Write(f); err != nil {
				b.Fatal(err)
			}
		}
		if err := w.Flush(); err != nil {
			b.Fatal(err)
		}
		if err := <-done; err != nil {
			b.Fatal(err)
		}
	}
}

// rawHop does the same with bytes behind their length, through bufio and without a codec.
func rawHop(b *testing.B, body []byte) func(frames int) {
	near, far := socketPair(b)
	w, r := bufio.NewWriterSize(near, 64<<10), bufio.NewReaderSize(far, 64<<10)
	done := make(chan error)
	todo := make(chan int)
	b.Cleanup(func() { close(todo) })
	go func() {
		buf := make([]byte, len(body))
		for n := range todo {
			var err error
			for range n {
				var prefix [4]byte
				if _, err = io.ReadFull(r, prefix[:]); err != nil {
					break
				}
				if _, err = io.ReadFull(r, buf[:binary.BigEndian.Uint32(prefix[:])]); err != nil {
					break
				}
			}
			done <- err
		}
	}()
	prefix := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
	return func(frames int) {
		todo <- frames
		for range frames {
			w.Write(prefix)
			w.Write(body)
		}
		if err := w.Flush(); err != nil {
			b.Fatal(err)
		}
		if err := <-done; err != nil {
			b.Fatal(err)
		}
	}
}

// fxamackerFrame is a frame as the struct codec of fxamacker/cbor takes it.
type fxamackerFrame struct {
	Version     uint64         `cbor:"0,keyasint"`
	Type        uint64         `cbor:"1,keyasint"`
	ID          []byte         `cbor:"2,keyasint"`
	Seq         uint64         `cbor:"3,keyasint"`
	ContentType *string        `cbor:"4,keyasint,omitempty"`
	Meta        map[string]any `cbor:"5,keyasint,omitempty"`
	Payload     []byte         `cbor:"6,keyasint,omitempty"`
	EOF         *bool          `cbor:"9,keyasint,omitempty"`
	Cap         *string        `cbor:"10,keyasint,omitempty"`
	StreamID    *string        `cbor:"11,keyasint,omitempty"`
	RoutingID   *uint64        `cbor:"13,keyasint,omitempty"`
	ChunkIndex  *uint64        `cbor:"14,keyasint,omitempty"`
	Checksum    *uint64        `cbor:"16,keyasint,omitempty"`
	Credit      *uint64        `cbor:"19,keyasint,omitempty"`
}

// fxamackerEncoder returns a function that encodes a frame into a buffer that is used again.
func fxamackerEncoder(b *testing.B, f *frame.Frame) func() {
	mode, err := cbor.EncOptions{}.UserBufferEncMode()
	if err != nil {
		b.Fatal(err)
	}
	var value fxamackerFrame
	if err := cbor.Unmarshal(encoded(b, f), &value); err != nil {
		b.Fatal(err)
	}
	var buf bytes.Buffer
	return func() {
		buf.Reset()
		if err := mode.MarshalToBuffer(&value, &buf); err != nil {
			b.Fatal(err)
		}
	}
}

// fxamackerDecoder returns a function that decodes a body into a struct that is used again.
func fxamackerDecoder(b *testing.B, body []byte) func() {
	var value fxamackerFrame
	return func() {
		if err := cbor.Unmarshal(body, &value); err != nil {
			b.Fatal(fmt.Errorf("fxamacker: %w", err))
		}
	}
}
