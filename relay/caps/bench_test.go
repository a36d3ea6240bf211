package caps_test

import (
	"fmt"
	"testing"

	"github.com/cosim-go/cosim/relay/caps"
	"github.com/cosim-go/cosim/relay/relaytest"
)

// A benchTable makes tables of any size and requests for their caps.
type benchTable struct {
	name string
	cap  func(i, n int) string // number i of n
}

var benchTables = []benchTable{
	// Every cap has a tag of its own.
	{"markers", func(i, n int) string {
		return fmt.Sprintf(`cap:in="media:ext=pdf";out="media:enc=utf-8;record";op%d`, i)
	}},
	// All caps have the same tags and differ in what they take and give.
	{"grid", func(i, n int) string {
		side := 1
		for side*side < n {
			side++
		}
		return fmt.Sprintf(`cap:convert;in="media:ext=a%d";out="media:ext=b%d"`, i%side, i/side)
	}},
	// All caps are for one of some models, and as specific as each other.
	{"models", func(i, n int) string {
		return fmt.Sprintf(`cap:generate;in="media:enc=utf-8";model=m%d;out="media:enc=utf-8";quant=q%d`, i/10, i%10)
	}},
}

func (b *benchTable) table(n int) (table []*caps.Cap) {
	for i := range n {
		table = append(table, parse(b.cap(i, n)))
	}
	return table
}

// BenchmarkLookup finds caps by new texts, next to the same in a table of 10, and by texts that were
// looked up before, next to a Go map.
func BenchmarkLookup(b *testing.B) {
	for _, t := range benchTables {
		b.Run("table="+t.name, func(b *testing.B) { relaytest.BenchLookup(b, t.cap) })
	}
}

func BenchmarkParse(b *testing.B) {
	for _, t := range benchTables {
		text := t.cap(3, 10)
		b.Run("table="+t.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := caps.Parse(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkDispatchable(b *testing.B) {
	for _, t := range benchTables {
		c := parse(t.cap(3, 10))
		b.Run("table="+t.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if !caps.Dispatchable(c, c) {
					b.Fatal("a cap does not serve itself")
				}
			}
		})
	}
}

func BenchmarkNewIndex(b *testing.B) {
	for _, t := range benchTables {
		for _, n := range []int{10, 100, 1_000, 10_000} {
			table := t.table(n)
			b.Run(fmt.Sprintf("table=%s/caps=%d", t.name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					caps.NewIndex(table)
				}
			})
		}
	}
}
