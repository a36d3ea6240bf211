package main

import (
	"testing"

	"github.com/cosim-go/cosim/relay/bench/internal/measure"
	"github.com/cosim-go/cosim/relay/bench/internal/ours"
	"github.com/cosim-go/cosim/relay/bench/internal/suite"
	"github.com/cosim-go/cosim/relay/relaytest"
)

func BenchmarkEncode(b *testing.B)   { group(b, suite.Encode) }
func BenchmarkDecode(b *testing.B)   { group(b, suite.Decode) }
func BenchmarkChecksum(b *testing.B) { group(b, suite.Checksum) }
func BenchmarkOrder(b *testing.B)    { group(b, suite.Order) }
func BenchmarkHop(b *testing.B)      { group(b, suite.Hop) }
func BenchmarkBridge(b *testing.B)   { group(b, suite.Bridge) }
func BenchmarkTrip(b *testing.B)     { group(b, suite.Trip) }

// These take the samples of each and of its floor by turns and have the ratio.

func BenchmarkLookup(b *testing.B) { relaytest.BenchLookup(b, suite.LookupCap) }
func BenchmarkSwitch(b *testing.B) { relaytest.BenchSwitch(b, relaytest.SocketPair, ours.Switch) }

func BenchmarkStream(b *testing.B) {
	s, err := ours.Stream()
	if err != nil {
		b.Fatal(err)
	}
	relaytest.BenchStream(b, s)
}

func TestMain(m *testing.M) {
	ours.Main()
	m.Run()
}

// group runs the contenders of each scenario one after the other, each by itself.
func group(b *testing.B, scenarios func() ([]measure.Scenario, error)) {
	all, err := scenarios()
	if err != nil {
		b.Fatal(err)
	}
	for _, s := range all {
		b.Run(s.Case, func(b *testing.B) {
			for _, c := range s.Contenders {
				b.Run(c.Name, func(b *testing.B) { contend(b, s, c) })
			}
		})
	}
}

func contend(b *testing.B, s measure.Scenario, c measure.Contender) {
	runner, err := c.Open()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.SetBytes(int64(s.Bytes))
	b.ResetTimer()
	// A runner wants to know beforehand how much there is to do: both ends of a connection work at once.
	if err := runner.Run(b.N); err != nil {
		b.Error(err)
	}
	b.StopTimer()
	if err := runner.Close(); err != nil {
		b.Error(err)
	}
}
