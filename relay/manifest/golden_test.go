package manifest_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/cosim-go/cosim/relay/manifest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden reads each document of a directory, and compares what is written of it with the file beside it that ends in
// .golden. What is written reads as the same again.
func golden[T any](t *testing.T, dir string, parse func([]byte) (T, error), emit func(T, []byte) []byte) {
	files, err := filepath.Glob(filepath.Join("testdata", dir, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no documents: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			v, err := parse(data)
			if err != nil {
				t.Fatal(err)
			}
			compareGolden(t, strings.TrimSuffix(file, ".json")+".golden", emit(v, nil))
			again, err := parse(emit(v, nil))
			if err != nil || !reflect.DeepEqual(again, v) {
				t.Errorf("read again: %+v, %v, want %+v", again, err, v)
			}
		})
	}
}

func compareGolden(t *testing.T, file string, got []byte) {
	t.Helper()
	var lines bytes.Buffer
	if err := json.Indent(&lines, got, "", "\t"); err != nil {
		t.Fatalf("%v in %s", err, got)
	}
	lines.WriteByte('\n')
	if *update {
		if err := os.WriteFile(file, lines.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(lines.Bytes(), want) {
		t.Errorf("written: %s\nwant %s, %v", &lines, want, err)
	}
}

// Requirement: N1
func TestGoldenInventories(t *testing.T) {
	golden(t, "inventory", manifest.ParseInventory, (*manifest.Inventory).AppendJSON)
}

func TestGoldenCartridges(t *testing.T) {
	golden(t, "cartridge", manifest.ParseCartridge, (*manifest.Cartridge).AppendJSON)
}

func TestGoldenPools(t *testing.T) {
	golden(t, "pools", manifest.ParsePools, manifest.Pools.AppendJSON)
}

// AppendJSON appends: what is there stays.
func TestAppendJSONAppends(t *testing.T) {
	if got := string(manifest.Pools{}.AppendJSON([]byte("x"))); got != "x{}" {
		t.Errorf("AppendJSON = %s", got)
	}
}
