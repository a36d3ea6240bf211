package cartridges

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/frame"
)

const (
	sha256Cap     = "cap:hash=sha256"
	sha512Cap     = "cap:hash=sha512"
	compressCap   = `cap:compress;out="media:ext=gz"`
	decompressCap = `cap:decompress;in="media:ext=gz"`
	wordsCap      = `cap:count-words;in="media:ext=gz"`
	gzMedia       = "media:ext=gz"
)

// sizes of streams: nothing, something, four CHUNKs, and more than goes out without credit in 20 of them.
var sizes = []int{0, 1, 1 << 20, 5 << 20}

// noise returns bytes that gzip cannot make fewer.
func noise(size int) []byte {
	data := make([]byte, size)
	rand.NewChaCha8([32]byte{1}).Read(data)
	return data
}

// prose returns a text of about some bytes.
func prose(size int) []byte {
	words := []string{"a", "word", "and\tanother", "one\n", "\r\n", "naïve"}
	random := rand.New(rand.NewPCG(1, 2))
	var text bytes.Buffer
	for text.Len() < size {
		text.WriteString(words[random.IntN(len(words))] + " ")
	}
	return text.Bytes()
}

// gz compresses data with the standard library.
func gz(data []byte) []byte { return gzAt(gzip.DefaultCompression, data) }

// stored makes a gzip stream of data that is not compressed.
func stored(data []byte) []byte { return gzAt(gzip.NoCompression, data) }

func gzAt(level int, data []byte) []byte {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, level)
	if err == nil {
		_, err = w.Write(data)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic(err)
	}
	return out.Bytes()
}

func TestHash(t *testing.T) {
	r := newRig(t, []string{"hash"})
	for _, size := range sizes {
		data := noise(size)
		if got, want := string(r.must(sha256Cap, "media:", data)), fmt.Sprintf("%x\n", sha256.Sum256(data)); got != want {
			t.Errorf("SHA-256 of %d bytes = %q, want %q", size, got, want)
		}
		if got, want := string(r.must(sha512Cap, "media:", data)), fmt.Sprintf("%x\n", sha512.Sum512(data)); got != want {
			t.Errorf("SHA-512 of %d bytes = %q, want %q", size, got, want)
		}
	}
}

func TestHashTellsItsProgress(t *testing.T) {
	r := newRig(t, []string{"hash"})
	c, err := call.Start(t.Context(), r, call.Request{Cap: sha256Cap}, call.Bytes("media:", noise(1<<20)))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var said []string
	for {
		e, err := c.Next(t.Context())
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == call.EventProgress {
			said = append(said, fmt.Sprintf("%v %s", e.Progress, e.Log.Message))
		}
	}
	if want := "1 1048576 bytes hashed"; len(said) == 0 || said[0] != want {
		t.Errorf("progress %q, want %q at first", said, want)
	}
}

func TestHashNeedsAnArgument(t *testing.T) {
	r := newRig(t, []string{"hash"})
	_, err := call.Do(t.Context(), r, sha256Cap)
	if !fails(err, call.Error{Code: call.CodeHandlerError, Attribution: frame.AttributionInternal}) || !strings.Contains(err.Error(), "waiting for the bytes to hash") {
		t.Errorf("without an argument: %v", err)
	}
}

func TestCompressAndBack(t *testing.T) {
	r := newRig(t, []string{"compress"})
	for _, size := range sizes {
		data := noise(size)
		small := r.must(compressCap, "media:", data)
		if !bytes.HasPrefix(small, []byte{0x1f, 0x8b}) {
			t.Errorf("%d bytes become %d that begin with % x", size, len(small), small[:min(4, len(small))])
		}
		if !bytes.Equal(r.must(decompressCap, gzMedia, small), data) {
			t.Errorf("%d bytes come back changed", size)
		}
	}
	text := prose(1 << 20)
	if small := r.must(compressCap, "media:", text); len(small) > len(text)/2 {
		t.Errorf("a text of %d bytes becomes one of %d", len(text), len(small))
	}
	if !bytes.Equal(r.must(decompressCap, gzMedia, gz(text)), text) {
		t.Error("a text that others compressed comes back changed")
	}
}

// What is no gzip is the input's fault, and harms nobody else.
func TestBrokenGzip(t *testing.T) {
	r := newRig(t, []string{"compress"})
	text := prose(1 << 18)
	whole := gz(text)
	changed := func(at int) []byte {
		data := bytes.Clone(whole)
		data[at] ^= 0x55
		return data
	}
	for name, data := range map[string][]byte{
		"nothing":               nil,
		"another format":        text,
		"half a header":         whole[:5],
		"half a stream":         whole[:len(whole)/2],
		"no checksum":           whole[:len(whole)-8],
		"a wrong checksum":      changed(len(whole) - 8),
		"a wrong length":        changed(len(whole) - 4),
		"a change in between":   changed(len(whole) / 2),
		"something at its back": append(bytes.Clone(whole), "more"...),
	} {
		_, err := r.ask(decompressCap, gzMedia, data)
		if !fails(err, call.Error{Code: "BAD_GZIP", Attribution: frame.AttributionInput, ArgURN: gzMedia}) {
			t.Errorf("%s: %v", name, err)
		}
		if !bytes.Equal(r.must(decompressCap, gzMedia, whole), text) {
			t.Errorf("after %s the text comes back changed", name)
		}
	}
}

// A requester that gives up in the middle of its body is not an input that is broken.
func TestBodyThatFails(t *testing.T) {
	r := newRig(t, []string{"compress"})
	broken := errors.New("the disk is gone")
	for cap, data := range map[string][]byte{compressCap: noise(1 << 20), decompressCap: gz(noise(1 << 20))[:1<<19]} {
		body := io.MultiReader(bytes.NewReader(data), failing{broken})
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		if _, err := call.Do(ctx, r, cap, call.Arg{Media: gzMedia, Body: body}); !errors.Is(err, broken) {
			t.Errorf("%s: %v, want %v", cap, err, broken)
		}
		cancel()
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
