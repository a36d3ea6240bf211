package manifest_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/manifest"
)

// addSeeds adds the documents of a directory and some that are hostile.
func addSeeds(f *testing.F, dir string) {
	files, err := filepath.Glob(filepath.Join("testdata", dir, "*.json"))
	if err != nil || len(files) == 0 {
		f.Fatalf("no documents: %v", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, text := range manifest.Hostile() {
		f.Add([]byte(text))
	}
}

// again expects that what is written of v reads as v again.
func again[T any](t *testing.T, v T, text []byte, parse func([]byte) (T, error)) {
	t.Helper()
	if !json.Valid(text) {
		t.Fatalf("written: %s", text)
	}
	w, err := parse(text)
	if err != nil || !reflect.DeepEqual(w, v) {
		t.Errorf("written %s\nread again: %+v, %v, want %+v", text, w, err, v)
	}
}

func FuzzParseInventory(f *testing.F) {
	addSeeds(f, "inventory")
	followed := new(manifest.Follower)
	f.Fuzz(func(t *testing.T, data []byte) {
		before := bytes.Clone(data)
		v, err := manifest.ParseInventory(data)
		if !bytes.Equal(data, before) {
			t.Error("ParseInventory changed the text")
		}
		w, _, ferr := followed.Read(data)
		if (err == nil) != (ferr == nil) || !reflect.DeepEqual(v, w) {
			t.Errorf("followed: %+v, %v, alone: %+v, %v", w, ferr, v, err)
		}
		if err != nil {
			if !errors.Is(err, frame.ErrProtocol) || len(err.Error()) > 100_000 {
				t.Errorf("error %v", err)
			}
			return
		}
		if !json.Valid(data) {
			t.Error("ParseInventory took what is no JSON")
		}
		again(t, v, v.AppendJSON(nil), manifest.ParseInventory)
		v.Check(true)
		v.Offers()
		v.Owners()
	})
}

func FuzzParseCartridge(f *testing.F) {
	addSeeds(f, "cartridge")
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := manifest.ParseCartridge(data)
		var fault *manifest.Fault
		switch {
		case errors.As(err, &fault):
			if fault.Kind != manifest.ManifestInvalid && fault.Kind != manifest.Incompatible {
				t.Errorf("fault of kind %s", fault.Kind)
			}
		case err != nil:
			t.Errorf("error %v is no Fault", err)
		default:
			again(t, c, c.AppendJSON(nil), manifest.ParseCartridge)
			p := c.InitialPools()
			again(t, p, p.AppendJSON(nil), manifest.ParsePools)
		}
	})
}

func FuzzParsePools(f *testing.F) {
	addSeeds(f, "pools")
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := manifest.ParsePools(data)
		if err != nil {
			if !errors.Is(err, frame.ErrProtocol) {
				t.Errorf("error %v", err)
			}
			return
		}
		again(t, p, p.AppendJSON(nil), manifest.ParsePools)
	})
}

// Documents that make the most of few bytes take memory in proportion to their length.
func TestMemoryOfHostileDocuments(t *testing.T) {
	const size = 1 << 20
	fill := func(head, item, tail string) []byte {
		n := (size - len(head) - len(tail)) / (len(item) + 1)
		return []byte(head + strings.TrimSuffix(strings.Repeat(item+",", n), ",") + tail)
	}
	rec := `{"registry_url":null,"channel":"release","id":"","version":"","sha256":""}`
	for name, doc := range map[string][]byte{
		"records":  fill(`{"installed_cartridges":[`, rec, `]}`),
		"groups":   fill(`{"installed_cartridges":[`+strings.TrimSuffix(rec, "}")+`,"cap_groups":[`, `{"name":"x"}`, `]}]}`),
		"empty":    fill(`{"installed_cartridges":[`+strings.TrimSuffix(rec, "}")+`,"cap_groups":[`, `{}`, `]}]}`),
		"aliases":  fill(`{"installed_cartridges":[`+strings.TrimSuffix(rec, "}")+`,"cap_groups":[{"caps":[{"aliases":[`, `""`, `]}]}]}]}`),
		"adapters": fill(`{"installed_cartridges":[`+strings.TrimSuffix(rec, "}")+`,"cap_groups":[{"adapter_urns":[`, `""`, `]}]}]}`),
		"caps":     fill(`{"caps":[`, `"cap:a"`, `]}`),
		"nesting":  fill(`{"caps":[],"x":[`, strings.Repeat("[", 100)+strings.Repeat("]", 100), `]}`),
		"deep":     []byte(strings.Repeat("[", size)),
		"text":     []byte(`{"caps":["` + strings.Repeat("x", size) + `"]}`),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		manifest.ParseInventory(doc)
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > 64*uint64(len(doc))+1<<20 {
			t.Errorf("%s: %d bytes for a text of %d", name, got, len(doc))
		} else {
			t.Logf("%s: %d bytes a byte", name, got/uint64(len(doc)))
		}
	}
}
