package caps

import (
	"fmt"
	"hash/maphash"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unsafe"
)

func mustParse(t testing.TB, text string) *Cap {
	t.Helper()
	c, err := Parse(text)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return c
}

func tableOf(t testing.TB, texts ...string) (table []*Cap) {
	t.Helper()
	for _, text := range texts {
		table = append(table, mustParse(t, text))
	}
	return table
}

// finds fails the test unless an index finds the cap at a place, or none for -1, whichever way
// it is asked and however often.
func finds(t *testing.T, x *Index, request, preferred string, want int) {
	t.Helper()
	for range 2 {
		if got, ok := x.Find(request, preferred); ok != (want >= 0) || ok && got != want {
			t.Errorf("Find(%.80q, %.80q) = %d, %v, want %d", request, preferred, got, ok, want)
		}
		if got, ok := x.FindBytes([]byte(request), preferred); ok != (want >= 0) || ok && got != want {
			t.Errorf("FindBytes(%.80q, %.80q) = %d, %v, want %d", request, preferred, got, ok, want)
		}
	}
}

func TestFind(t *testing.T) {
	x := NewIndex(tableOf(t,
		"cap:extract",            // 0
		"cap:slow;extract",       // 1
		"cap:extract;slow;?x",    // 2
		"cap:extract",            // 3
		"cap:effect=none",        // 4
		"cap:in=media:a;b",       // 5
		`cap:in="media:a;c";b`,   // 6
		"cap:generate;model=m1",  // 7
		"cap:generate;model!=m1", // 8
		"cap:out=media:d;b",      // 9
	))
	for _, c := range []struct {
		request, preferred string
		want               int
	}{
		{"cap:extract", "", 0},
		{"CAP:Extract;effect=declared", "", 0},
		{"cap:extract", "cap:extract;slow", 1},
		{"cap:extract", "cap:?x;slow;extract", 1}, // the first that is equivalent
		{"cap:extract", "cap:extract;missing", 0},
		{"cap:extract", "cap:effect=none", 0},
		{"cap:extract", "no cap", 0},
		{"cap:extract", "cap:", 0},
		{"cap:extract;!slow", "cap:extract;slow", 0},
		{"cap:extract;slow", "", 1},
		{"cap:extract;fast", "", -1},
		{"cap:other", "", -1},
		{"cap:other", "cap:extract", -1},
		{"cap:effect=none", "", 4},
		{"cap:effect=patch", "", -1},
		{"cap:?effect", "", 4},
		{"no cap", "", -1},
		{"", "cap:extract", -1},
		{"cap:b", "", 5},
		{"cap:b;in=media:a", "", 5},
		{`cap:b;in="media:a;c"`, "", 6},
		{`cap:b;in="media:c"`, "", 9},
		{"cap:b;in=media:?a", "", 5},
		{"cap:b;in=media:!a", "", 9},
		{"cap:b;out=media:d", "", 9},
		{"cap:b;out=media:e", "", -1},
		{"cap:b;!in2", "cap:b;out=media:x", 5},
		{"cap:generate", "", 8},
		{"cap:generate;model=m1", "", 7},
		{"cap:generate;model=m2", "", 8},
		{"cap:generate;model!=m2", "", 8},
		{"cap:generate;!model", "", -1},
	} {
		finds(t, x, c.request, c.preferred, c.want)
	}
}

func TestFindInAnEmptyTable(t *testing.T) {
	for _, x := range []*Index{NewIndex(nil), NewIndex([]*Cap{})} {
		finds(t, x, "cap:x", "", -1)
		finds(t, x, "cap:?effect", "cap:x", -1)
	}
}

func TestIndexDoesNotSeeLaterChanges(t *testing.T) {
	table := tableOf(t, "cap:a", "cap:b")
	x := NewIndex(table)
	finds(t, x, "cap:b", "", 1)
	copy(table, tableOf(t, "cap:b", "cap:a"))
	finds(t, x, "cap:b", "", 1)
	finds(t, x, "cap:a", "", 0)
	finds(t, NewIndex(table), "cap:b", "", 0)
}

// TestTiesGoToTheFirstRegistered builds the table anew again and again, as a switch does.
func TestTiesGoToTheFirstRegistered(t *testing.T) {
	for n := 1; n <= 40; n++ {
		var texts []string
		for i := range n {
			texts = append(texts, fmt.Sprintf("cap:x;k%d=1", (i*7)%41))
		}
		x := NewIndex(tableOf(t, append(texts, texts...)...))
		finds(t, x, "cap:x", "", 0)
		finds(t, x, texts[n-1], "", n-1)
		finds(t, x, "cap:x;!k0", "", map[bool]int{true: -1, false: 1}[n == 1]) // k0 is the first
	}
}

// TestWideRequest has more tags than are looked up, and more than are looked at.
func TestWideRequest(t *testing.T) {
	var keys, some []string
	for i := range MaxTags - 2 {
		keys = append(keys, fmt.Sprintf("k%d=v", i))
	}
	for i := range 20 {
		some = append(some, fmt.Sprintf("k%d=v", i))
	}
	wide := strings.Join(keys, ";")
	table := tableOf(t, "cap:in=media:k7;x", `cap:x;in="media:`+wide+`;out"`, `cap:x;in="media:other=v"`, "cap:y;"+wide, `cap:x;in="media:k3;k9!=v"`)
	x := NewIndex(table)
	finds(t, x, `cap:x;in="media:`+wide+`"`, "", 0)
	finds(t, x, `cap:x;in="media:`+wide+`;other=v"`, "", 2)
	finds(t, x, "cap:"+strings.Join(some, ";"), "", 3)
	finds(t, x, "cap:"+strings.Join(some, ";")+";z", "", -1)

	table = nil
	for i := range 2 * mostTerms {
		table = append(table, mustParse(t, fmt.Sprintf("cap:in=\"media:k%d=v\"", i)))
	}
	table = append(table, mustParse(t, "cap:in=\"media:k3=v;k4=v\""))
	finds(t, NewIndex(table), `cap:in="media:`+wide+`"`, "", len(table)-1) // the nearest of all that say less
}

func TestCapsThatAreTheSameCountOnce(t *testing.T) {
	x := NewIndex(tableOf(t, "cap:b;a", "cap:c", "cap:a;b", "cap:c;", "cap:d"))
	if len(x.caps) != 3 {
		t.Errorf("%d caps are kept, want 3", len(x.caps))
	}
	finds(t, x, "cap:d", "", 4)
	finds(t, x, "cap:a;b", "cap:b;a", 0)
}

func TestMemoIsBounded(t *testing.T) {
	x := NewIndex(tableOf(t, "cap:a", "cap:b"))
	for i := range 20_000 {
		finds(t, x, fmt.Sprintf("cap:b;?n%d", i), "", 1)
		finds(t, x, fmt.Sprintf("cap:a;n%d", i), "", -1)
	}
	kept := 0
	for i := range x.memo.sets {
		for way := range x.memo.sets[i] {
			if r := x.memo.sets[i][way].Load(); r != nil {
				kept++
				if len(r.request)+len(r.preferred) > memoText {
					t.Errorf("a text of %d bytes is kept", len(r.request)+len(r.preferred))
				}
			}
		}
	}
	if kept > memoSets*memoWays || kept < memoSets*memoWays/2 {
		t.Errorf("%d results are kept, want up to %d and nearly as many", kept, memoSets*memoWays)
	}
}

func TestMemoKeepsNoLongTexts(t *testing.T) {
	x := NewIndex(tableOf(t, "cap:a"))
	long := "cap:a" + strings.Repeat(";", memoText)
	finds(t, x, long, "", 0)
	finds(t, x, "cap:a", long, 0)
	for i := range x.memo.sets {
		for way := range x.memo.sets[i] {
			if r := x.memo.sets[i][way].Load(); r != nil {
				t.Errorf("%d and %d bytes of text are kept", len(r.request), len(r.preferred))
			}
		}
	}
}

// TestMemoTellsTextsApart makes all results fall into one set.
func TestMemoTellsTextsApart(t *testing.T) {
	m := &NewIndex(nil).memo
	for i, texts := range [][2]string{{"a", "b"}, {"a", ""}, {"ab", ""}, {"b", "a"}} {
		m.keep(0, texts[0], texts[1], i)
	}
	for want, texts := range [][2]string{{"a", "b"}, {"a", ""}, {"ab", ""}, {"b", "a"}} {
		if r := recall(m, 0, []byte(texts[0]), texts[1]); r == nil || r.place != want {
			t.Errorf("recall(%q) = %v, want %d", texts, r, want)
		}
	}
	if r := recall(m, 0, "", "ab"); r != nil {
		t.Errorf("recall of what is not kept = %v", *r)
	}
	if m.hash(1, "a") == m.hash(1, "b") || m.hash(1, "a") == m.hash(2, "a") {
		t.Error("the hash looks at one text alone")
	}
}

func TestMemoKeepsNoTextOfOthers(t *testing.T) {
	x := NewIndex(tableOf(t, "cap:a"))
	long := strings.Repeat("cap:a", 1000)
	request, preferred := long[:5], long[5:10]
	finds(t, x, request, preferred, 0)
	r := recall(&x.memo, x.memo.hash(maphash.String(x.memo.seed, request), preferred), request, preferred)
	if r == nil || unsafe.StringData(r.request) == unsafe.StringData(request) || unsafe.StringData(r.preferred) == unsafe.StringData(preferred) {
		t.Errorf("%v is kept with the text that it is a part of", r)
	}
}

// TestFindBytesKeepsNoBytes looks up texts in a buffer that is used again.
func TestFindBytesKeepsNoBytes(t *testing.T) {
	x := NewIndex(tableOf(t, "cap:a", "cap:b"))
	buffer := []byte("cap:a")
	for range 3 {
		for want, last := range []byte("ab") {
			buffer[4] = last
			if got, ok := x.FindBytes(buffer, ""); !ok || got != want {
				t.Errorf("FindBytes(%s) = %d, %v, want %d", buffer, got, ok, want)
			}
		}
	}
}

func TestFindFromManyGoroutines(t *testing.T) {
	x := NewIndex(tableOf(t, "cap:a", "cap:b", "cap:c;d"))
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 3000 {
				n := (g*31 + i) % 1500
				if got, ok := x.Find(fmt.Sprintf("cap:%c;?n%d", 'a'+n%3, n), ""); !ok || got != n%3 {
					t.Errorf("Find = %d, %v, want %d", got, ok, n%3)
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestSkip(t *testing.T) {
	list := []int32{2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233}
	for start := range list {
		for place := int32(0); place < 240; place++ {
			want := start
			for want < len(list) && list[want] < place {
				want++
			}
			if got := skip(list[start:], place); len(got) != len(list)-want {
				t.Fatalf("skip(%v, %d) = %v, want %v", list[start:], place, got, list[want:])
			}
		}
	}
	if got := skip(nil, 1); got != nil {
		t.Errorf("skip(nil) = %v", got)
	}
}

func TestPassRun(t *testing.T) {
	list := []int32{1, 4, 5, 6, 7, 8, 9, 12, 13, 15}
	for start := range list {
		for place := int32(0); place < 20; place++ {
			want := place
			for slices.Contains(list[start:], want) {
				want++
			}
			got, rest := passRun(list[start:], place)
			if got != want || len(rest) > 0 && rest[0] <= want || len(rest) < len(list)-start && list[len(list)-len(rest)-1] > want {
				t.Fatalf("passRun(%v, %d) = %d, %v, want %d", list[start:], place, got, rest, want)
			}
		}
	}
}

// TestFewCapsAreLookedAt counts the caps that are compared with a request, in tables of caps that
// have much in common.
func TestFewCapsAreLookedAt(t *testing.T) {
	for name, c := range map[string]struct {
		cap      string // with its number #n, by #row and #column of 100, and some #other numbers
		requests []string
	}{
		"tags of their own": {
			`cap:op#n;in="media:ext=pdf";out="media:record"`,
			[]string{"cap:op7", `cap:op7;in="media:ext=pdf"`, "cap:op7;x", "cap:out=media:record", "cap:?effect", "cap:effect=none", `cap:in="media:ext=png"`},
		},
		"other media": {
			`cap:convert;in="media:ext=a#row";out="media:ext=b#column"`,
			[]string{"cap:convert", `cap:convert;in="media:ext=a7"`, `cap:convert;in="media:ext=a7;page";out="media:ext=b3"`, `cap:convert;in="media:ext=a3";out="media:ext=c"`, `cap:out="media:ext=b7"`, `cap:in="media:ext=!"`, `cap:convert;out="media:ext!=b0"`, "cap:convert;out=media:!ext"},
		},
		"other values": {
			`cap:generate;model=m#row;size=s#column`,
			[]string{"cap:generate", "cap:generate;model=m7", "cap:generate;model=m7;size=s3", "cap:model=m7;size=s", "cap:generate;!model", "cap:generate;model?=m7;size", "cap:model!=m3"},
		},
		"common and rare input": {
			`cap:x;in="media:a=1;b=#n;c"`,
			[]string{`cap:x;in="media:a=1;b=7;c"`, `cap:x;in="media:a=1;c"`},
		},
		"mixed values": {
			`cap:a=#some;b=#other;c`,
			[]string{"cap:a=50;b=60;c", "cap:a=3;b=70", "cap:a=96;b=0;c"},
		},
		"input without something": {
			`cap:x;in="media:a=#row;!b";y=#column`,
			[]string{`cap:x;in="media:a=7"`, `cap:x;in="media:b"`, `cap:x;in="media:a;b=1";y=3`, `cap:x;in="media:a"`},
		},
	} {
		var texts []string
		for i := range 10_000 {
			number := strings.NewReplacer("#n", strconv.Itoa(i), "#row", strconv.Itoa(i/100), "#column", strconv.Itoa(i%100),
				"#some", strconv.Itoa(i%97), "#other", strconv.Itoa(i%89))
			texts = append(texts, number.Replace(c.cap))
		}
		x := NewIndex(tableOf(t, texts...))
		for _, text := range c.requests {
			request := mustParse(t, text)
			q := query{index: x}
			q.dispatch(request)
			if q.hopeless {
				continue
			}
			for order, a := range map[string]*arrangement{"more": &x.more, "less": &x.less} {
				looks := 0
				x.search(a, 0, &q, func(c *Cap) bool {
					looks++
					return Dispatchable(c, request)
				})
				if looks > 3 {
					t.Errorf("%s: %d caps are looked at for %s among those that say %s", name, looks, text, order)
				}
			}
		}
	}
}
