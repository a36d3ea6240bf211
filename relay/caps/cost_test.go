package caps_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/cosim-go/cosim/relay/caps"
)

func noAllocs(t *testing.T, what string, call func()) {
	t.Helper()
	call()
	if n := testing.AllocsPerRun(100, call); n != 0 {
		t.Errorf("%s allocates %v times, want 0", what, n)
	}
}

func TestRepeatedLookupAllocatesNothing(t *testing.T) {
	x := caps.NewIndex(parseAll(`cap:extract cap:extract;slow cap:effect=none cap:generate;model="M"`))
	for _, c := range []struct{ request, preferred string }{
		{"cap:effect=none", ""},
		{"cap:extract", "cap:extract;slow"},
		{"cap:extract;in=media:some-media-type-with-a-long-name;out", "no cap, and longer than what is copied for nothing"},
		{`cap:generate;model="M"`, ""},
		{"cap:nobody;has=this;tag=in;a;very;long;name=of;a;cap", ""},
		{"no cap, and longer than what is copied for nothing", ""},
	} {
		bytes := []byte(c.request)
		noAllocs(t, "Find "+c.request, func() { x.Find(c.request, c.preferred) })
		noAllocs(t, "FindBytes "+c.request, func() { x.FindBytes(bytes, c.preferred) })
	}
}

func TestCompareAllocatesNothing(t *testing.T) {
	a := parse(`cap:extract;in="media:ext=pdf";out="media:enc=utf-8;a=\"B\"";v!=1`)
	b := parse(`cap:extract;in="media:ext=pdf;page";out="media:enc=utf-8";v=2`)
	x := caps.NewIndex([]*caps.Cap{a, b})
	noAllocs(t, "Dispatchable", func() { caps.Dispatchable(a, b) })
	noAllocs(t, "Equivalent", func() { a.Equivalent(b) })
	noAllocs(t, "Conforms", func() { a.In().Conforms(b.In()) })
	noAllocs(t, "String, Specificity and In.String", func() { _, _, _ = a.String(), a.Specificity(), a.In().String() })
	noAllocs(t, "Tags", func() {
		for range a.Tags() {
			continue
		}
	})
	noAllocs(t, "FindCap", func() { x.FindCap(b, a) })
}

// hostile returns texts of about n bytes that are meant to cost much.
func hostile(n int) map[string]string {
	keys := func(format string) string {
		var b strings.Builder
		for i := 0; b.Len() < n; i++ {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()[:n]
	}
	times := func(s string) string { return strings.Repeat(s, n/len(s)) }
	all := map[string]string{
		"separators":      "cap:" + times(";"),
		"one long key":    "cap:" + times("K"),
		"one long value":  "cap:k=" + times("V"),
		"growing letters": "cap:k=" + times("Ⱥ"),
		"many keys":       "cap:" + keys("k%d;"),
		"one key":         "cap:" + times("k;"),
		"marks":           "cap:" + times("?"),
		"escapes":         `cap:k="` + times(`\"`) + `"`,
		"open quote":      `cap:k="` + times(`\\`),
		"open in":         `cap:in="media:k=\"` + times(`\\\\`),
		"escapes of in":   `cap:in="media:k=\"` + times(`\\\"`) + `\"";x`,
		"separators in":   `cap:in="media:` + times(";") + `";x`,
		"keys of in":      `cap:in="media:` + keys("k%d;") + `";x`,
		"white space":     "cap:x" + times(" "),
		"white space too": times("\u2003") + "cap:x",
		"no colon":        times("c"),
		"long prefix":     times("C") + ":x",
		"not UTF-8":       "cap:k=" + times("\xff"),
		"quotes":          `cap:k="` + times("\xf0\x9f\x98\x80") + `"`,
		"effect":          "cap:effect=" + times("x"),
		"in of no URN":    "cap:in=" + times("x"),
	}
	return all
}

// allocated returns how many bytes a call allocates. Others may allocate at the same time, so it
// is the least of some calls.
func allocated(call func()) (least uint64) {
	for try := range 4 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		call()
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; try == 0 || n < least {
			least = n
		}
	}
	return least
}

// TestHostileTextsCostNoMoreThanTheirLength bounds what is allocated by the length of the text,
// and with it what is copied.
func TestHostileTextsCostNoMoreThanTheirLength(t *testing.T) {
	for n := 64; n <= 256<<10; n *= 8 {
		for name, text := range hostile(n) {
			limit := uint64(64*min(len(text), caps.MaxLength) + 4096)
			got := allocated(func() {
				c, err := caps.Parse(text)
				if err == nil {
					caps.Dispatchable(c, c)
				} else if len(err.Error()) > 600 {
					t.Errorf("%s: the error has %d bytes", name, len(err.Error()))
				}
			})
			if got > limit {
				t.Errorf("%s: a text of %d bytes allocates %d, want at most %d", name, len(text), got, limit)
			}
		}
	}
}

// TestLookupOfHostileTexts expects no more of them than an end.
func TestLookupOfHostileTexts(t *testing.T) {
	x := caps.NewIndex(parseAll("cap:x cap:k cap:in=media:k;x cap:k!=v"))
	for name, text := range hostile(64 << 10) {
		place, found := x.Find(text, text)
		c, err := caps.Parse(text)
		if err != nil && found {
			t.Errorf("%s: %d serves what is no cap", name, place)
		}
		if again, also := x.FindBytes([]byte(text), text); again != place || also != found {
			t.Errorf("%s: %d, %v the second time, before that %d, %v", name, again, also, place, found)
		}
		if err == nil && found != (len(caps.Rank(c, parseAll("cap:x cap:k cap:in=media:k;x cap:k!=v"))) > 0) {
			t.Errorf("%s: Find = %v, unlike Rank", name, found)
		}
	}
}
