package caps_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cosim-go/cosim/relay/caps"
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

var benchSizes = []int{10, 100, 1_000, 10_000}

func (b *benchTable) table(n int) (table []*caps.Cap) {
	for i := range n {
		table = append(table, parse(b.cap(i, n)))
	}
	return table
}

// newTexts are more requests than an index remembers. No two are the same.
func (b *benchTable) newTexts(n int) (texts []string) {
	for i := range 8192 {
		texts = append(texts, fmt.Sprintf("%s;?n%05d", b.cap(i*7919%n, n), i))
	}
	return texts
}

// BenchmarkLookup finds caps by new texts and by texts that were looked up before. It reports how
// many times as long as in a table of 10 a new one takes, and how many times as long as a lookup
// in a Go map of the same texts a repeated one takes, both measured by turns.
func BenchmarkLookup(b *testing.B) {
	for _, t := range benchTables {
		small := caps.NewIndex(t.table(10))
		smallTexts := t.newTexts(10)
		for _, n := range benchSizes {
			x := caps.NewIndex(t.table(n))
			texts := t.newTexts(n)
			b.Run(fmt.Sprintf("table=%s/caps=%d/new", t.name, n), func(b *testing.B) {
				compare(b, "x10caps", looks(x, texts), looks(small, smallTexts))
			})
			few := texts[:64]
			b.Run(fmt.Sprintf("table=%s/caps=%d/repeated", t.name, n), func(b *testing.B) {
				looks(x, few)(len(few))
				compare(b, "xmap", looks(x, few), looksInMap(few))
			})
		}
	}
}

// looks returns a function that looks up texts in turn, n times.
func looks(x *caps.Index, texts []string) func(n int) {
	next := 0
	return func(n int) {
		for range n {
			if _, found := x.Find(texts[next], ""); !found {
				panic("nothing serves " + texts[next])
			}
			next = (next + 1) % len(texts)
		}
	}
}

func looksInMap(texts []string) func(n int) {
	places := map[string]int{}
	for place, text := range texts {
		places[string([]byte(text))] = place
	}
	next := 0
	return func(n int) {
		for range n {
			if _, found := places[texts[next]]; !found {
				panic("no " + texts[next])
			}
			next = (next + 1) % len(texts)
		}
	}
}

// compare measures a function and reports how many times as long as another one it takes: the
// median of rounds in which both have their turn.
func compare(b *testing.B, unit string, run, base func(n int)) {
	const turn = 512
	b.ReportAllocs()
	var ratios []float64
	b.ResetTimer()
	for done := 0; done < b.N; done += turn {
		n := min(turn, b.N-done)
		b.StopTimer()
		start := time.Now()
		base(n)
		floor := time.Since(start)
		b.StartTimer()
		start = time.Now()
		run(n)
		ratios = append(ratios, float64(time.Since(start))/float64(max(floor, 1)))
	}
	slices.Sort(ratios)
	b.ReportMetric(ratios[len(ratios)/2], unit)
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
		for _, n := range benchSizes {
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
