package relaytest

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

func BenchmarkCodec(b *testing.B) { BenchCodec(b) }

func BenchmarkSocket(b *testing.B) { BenchLink(b, SocketPair) }

// quickly measures one round that is as short as can be.
var quickly = &MeasureOptions{Rounds: 1, Round: time.Nanosecond}

func wantFigures(t *testing.T, figures []Figure, err error, names ...string) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range figures {
		got = append(got, f.Name)
		if f.Frame <= 0 || f.Base <= 0 || f.Ratio <= 0 || f.Floor == "" || f.Payload < 64 {
			t.Errorf("a figure without a value: %+v", f)
		}
	}
	if want := strings.Join(names, " "); strings.Join(got, " ") != want {
		t.Errorf("figures = %q, want %s", got, want)
	}
}

// The frame path can be measured over connections of every kind, by somebody else's as well.
//
// Requirement: D9
func TestMeasureLink(t *testing.T) {
	for _, transport := range Transports() {
		t.Run(transport.Name, func(t *testing.T) {
			NoLeaks(t)
			var told int
			figures, err := MeasureLink(transport.Open, &MeasureOptions{Rounds: 1, Round: time.Nanosecond, Each: func(Figure) { told++ }})
			wantFigures(t, figures, err, "hop/payload=64B", "hop/payload=1KiB", "hop/payload=64KiB", "hop/payload=256KiB", "roundtrip/payload=64B")
			if told != len(figures) {
				t.Errorf("Each was called %d times for %d figures", told, len(figures))
			}
		})
	}
}

// Requirement: D9
func TestMeasureBridge(t *testing.T) {
	NoLeaks(t)
	figures, err := MeasureBridge(SocketPair, func(local, socket Conn) error { return copyBoth(local, socket) }, quickly)
	wantFigures(t, figures, err, "bridge/payload=64B", "bridge/payload=1KiB", "bridge/payload=64KiB", "bridge/payload=256KiB",
		"bridge-roundtrip/payload=64B")
}

func TestMeasureCodec(t *testing.T) {
	figures, err := MeasureCodec(quickly)
	wantFigures(t, figures, err, "encode/payload=64B", "encode/payload=1KiB", "encode/payload=64KiB", "encode/payload=256KiB",
		"decode/payload=64B", "decode/payload=1KiB", "decode/payload=64KiB", "decode/payload=256KiB",
		"check/payload=64B", "check/payload=1KiB", "check/payload=64KiB", "check/payload=256KiB")
}

func TestMeasureLookup(t *testing.T) {
	figures, err := MeasureLookup(func(i, n int) string { return fmt.Sprintf("cap:a%d;of=%d", i, n) }, quickly)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range figures {
		got = append(got, f.Name)
		if f.Frame <= 0 || f.Base <= 0 || f.Ratio <= 0 || f.Floor == "" {
			t.Errorf("a figure without a value: %+v", f)
		}
	}
	want := "lookup/caps=10/new lookup/caps=10/repeated lookup/caps=100/new lookup/caps=100/repeated " +
		"lookup/caps=1000/new lookup/caps=1000/repeated lookup/caps=10000/new lookup/caps=10000/repeated"
	if strings.Join(got, " ") != want {
		t.Errorf("figures = %q, want %s", got, want)
	}
}

func TestMeasureLookupRefuses(t *testing.T) {
	for name, want := range map[string]string{
		"media:a":          "measuring lookup/caps=10/new: cap 0 of 10: ",
		"cap:in=media:a;b": "",
	} {
		_, err := MeasureLookup(func(i, n int) string { return name }, quickly)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("MeasureLookup of %s = %v, want %q", name, err, want)
		}
	}
}

func TestMeasureSaysThatItCannotOpen(t *testing.T) {
	NoLeaks(t)
	opened := 0
	refused := errors.New("no more connections")
	_, err := MeasureLink(func() (client, server Conn, err error) {
		if opened++; opened > 1 {
			return nil, nil, refused
		}
		return SocketPair()
	}, quickly)
	if !errors.Is(err, refused) || !strings.Contains(err.Error(), "measuring hop/payload=64B") {
		t.Errorf("MeasureLink = %v, want %v", err, refused)
	}
	opened = -2 // what the first bridge needs, and one end of the second
	_, err = MeasureBridge(func() (client, server Conn, err error) {
		if opened++; opened > 1 {
			return nil, nil, refused
		}
		return SocketPair()
	}, func(local, socket Conn) error { return copyBoth(local, socket) }, quickly)
	if !errors.Is(err, refused) {
		t.Errorf("MeasureBridge = %v, want %v", err, refused)
	}
}

// A ratio is that of a round, and the median over rounds.
func TestRatio(t *testing.T) {
	var s samples
	for _, pair := range [][2]float64{{20, 10}, {100, 10}, {30, 10}} {
		s.add(pair[0], pair[1])
	}
	if got := s.ratio(); got != 3 {
		t.Errorf("ratio = %v, want 3", got)
	}
	s.add(40, 10)
	if got := s.ratio(); got != 3.5 {
		t.Errorf("ratio of four rounds = %v, want 3.5", got)
	}
}

// The benchmarks run as such, over whatever somebody opens.
//
// Requirement: D9
func TestBenchLink(t *testing.T) {
	open := func() (client, server Conn, err error) {
		client, server = BufferedPipe(4096)
		return client, server, nil
	}
	result := testing.Benchmark(func(b *testing.B) {
		if b.N > 1 {
			return // the time of a benchmark is not needed here
		}
		(&linkCases(open)[0]).bench(b)
	})
	if result.N == 0 {
		t.Error("the benchmark failed")
	}
}
