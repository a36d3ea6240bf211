package caps_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cosim-go/cosim/relay/caps"
)

// matchTable says which instance matches which pattern, for one key, as the protocol states it.
// A row is an instance, a column a pattern.
const matchTable = `
          |     | ?x  | !x  | x   | x!=p      | x?=p      | x=p
          | yes | yes | yes | no  | no        | yes       | no
 ?x       | yes | yes | yes | yes | yes       | yes       | yes
 !x       | yes | yes | yes | no  | no        | yes       | no
 x?=i     | yes | yes | yes | no  | no        | yes       | no
 x        | yes | yes | no  | yes | yes       | yes       | yes
 x!=i     | yes | yes | no  | yes | yes       | yes       | differ
 x=i      | yes | yes | no  | yes | differ    | differ    | equal
`

func TestMatchOfEachForm(t *testing.T) {
	rows := strings.Split(strings.Trim(matchTable, "\n"), "\n")
	patterns := cells(rows[0])[1:]
	if len(rows) != 8 || len(patterns) != 7 {
		t.Fatalf("the table has %d rows and %d columns", len(rows), len(patterns))
	}
	for _, row := range rows[1:] {
		instance := cells(row)[0]
		for column, verdict := range cells(row)[1:] {
			for _, value := range []string{"p", "i"} { // of the instance; that of the pattern is p
				i, p := "media:"+strings.Replace(instance, "=i", "="+value, 1), "media:"+patterns[column]
				want := verdict == "yes" || verdict == "differ" && value != "p" || verdict == "equal" && value == "p"
				if got := parseMedia(i).Conforms(parseMedia(p)); got != want {
					t.Errorf("%s conforms to %s: %v, want %v", i, p, got, want)
				}
				// The same as tags of a cap, with more keys around.
				i, p = "cap:a;y;"+i[len("media:"):], "cap:a;?w;!z;"+p[len("media:"):]
				if got := caps.Dispatchable(parse(i), parse(p)); got != want {
					t.Errorf("%s serves %s: %v, want %v", i, p, got, want)
				}
				if got := parse(p).Accepts(parse(i)); got != want {
					t.Errorf("%s accepts %s: %v, want %v", p, i, got, want)
				}
			}
		}
	}
}

func cells(row string) (all []string) {
	for cell := range strings.SplitSeq(row, "|") {
		all = append(all, strings.TrimSpace(cell))
	}
	return all
}

func TestSpecificityOfEachAxis(t *testing.T) {
	for text, want := range map[string]int{
		"cap:effect=none":                                      0,
		"cap:effect=patch":                                     0,
		"cap:x;?effect":                                        2,
		"cap:extract;target=metadata":                          6,
		"cap:extract;!constrained":                             7,
		"cap:in=media:void;out=media:void;ping":                20202,
		`cap:in="media:ext=pdf";out="media:enc=utf-8";extract`: 40402,
		`cap:in="media:bytes;ext=pdf";extract;out="media:numeric;record"`: 40602,
		"cap:out=media:void":                       20000,
		"cap:in=media:!a;b?=1;c!=1":                504,
		"cap:" + strings.Join(letters(26), ";!a"):  2 + 25*5, // spills over
		"cap:out=media:?x;in=\"media:?x\";?x;?y=1": 1,
	} {
		if got := parse(text).Specificity(); got != want {
			t.Errorf("specificity of %s = %d, want %d", text, got, want)
		}
	}
}

// letters returns a, b and so on.
func letters(n int) (all []string) {
	for i := range n {
		all = append(all, string(rune('a'+i)))
	}
	return all
}

// TestDispatchHasADirection covers what is easily taken the wrong way round.
func TestDispatchHasADirection(t *testing.T) {
	for _, c := range []struct {
		provider, request string
		want, back        bool // the latter with provider and request exchanged
	}{
		{"cap:extract;fast", "cap:extract", true, false}, // the provider is the instance
		{"cap:extract;model", "cap:extract;model=mlx", true, true},
		{"cap:x;out=media:a", "cap:x", true, false}, // who gives anything serves nobody who wants something
		{"cap:x;in=media:a", "cap:x", true, true},   // who takes anything serves everybody
		{`cap:x;in="media:a;b"`, "cap:x;in=media:a", false, true},
		{`cap:x;out="media:a;b"`, "cap:x;out=media:a", true, false},
		{"cap:x;effect=none", "cap:x", false, false},
		{"cap:x;effect=none", "cap:x;?effect", true, false},
		{"cap:x;?in2", "cap:x;in2=1", true, true},
		{"cap:x;out=media:?a", "cap:x;out=media:a", true, true}, // says nothing, but is not the top
		{"cap:x;out=media:!a", "cap:x;out=media:b", false, true},
	} {
		p, r := parse(c.provider), parse(c.request)
		if got, back := caps.Dispatchable(p, r), caps.Dispatchable(r, p); got != c.want || back != c.back {
			t.Errorf("%s serves %s: %v, want %v; the other way: %v, want %v", p, r, got, c.want, back, c.back)
		}
	}
}

func TestEquivalenceIsNotTransitive(t *testing.T) {
	pdf, some, png := parseMedia("media:ext=pdf"), parseMedia("media:ext"), parseMedia("media:ext=png")
	if !pdf.Equivalent(some) || !some.Equivalent(png) || pdf.Equivalent(png) {
		t.Error("ext=pdf, ext and ext=png are not equivalent in turn")
	}
	a, b, c := parse("cap:x=1"), parse("cap:x"), parse("cap:x=2")
	if !a.Equivalent(b) || !b.Equivalent(c) || a.Equivalent(c) {
		t.Error("x=1, x and x=2 are not equivalent in turn")
	}
	if a.String() == b.String() {
		t.Error("equivalent caps with different texts are the same")
	}
}

func TestAcceptsTakesOutTheWayOfIn(t *testing.T) {
	for _, c := range []struct {
		pattern, instance string
		want              bool
	}{
		{"cap:x", `cap:x;in=media:a;out=media:b`, true},
		{"cap:x;in=media:a", "cap:x", false},
		{"cap:x;out=media:a", "cap:x", true},
		{"cap:x;in=media:a", `cap:x;in="media:a;b"`, true},
		{"cap:x;out=media:a", `cap:x;out="media:a;b"`, false},
		{`cap:x;out="media:a;b"`, "cap:x;out=media:a", true},
		{"cap:x;?effect", "cap:x;effect=patch", true},
		{"cap:x;effect=patch", "cap:x;?effect", false},
	} {
		if got := parse(c.pattern).Accepts(parse(c.instance)); got != c.want {
			t.Errorf("%s accepts %s: %v, want %v", c.pattern, c.instance, got, c.want)
		}
	}
}

func TestHasIdentity(t *testing.T) {
	if got := parse("cap:in=*;effect=NONE").String(); got != caps.Identity {
		t.Errorf("the identity's canonical text is %s, want %s", got, caps.Identity)
	}
	for table, want := range map[string]bool{
		"":                               false,
		"cap:x cap:effect=patch":         false,
		"cap:x cap:effect=none":          true,
		"cap:?effect":                    true,
		"cap:effect=none;x":              false, // asks for x
		"cap:effect=none;!x;?y":          true,
		"cap:in=media:a;effect=none":     false,
		"cap:in=media:!a;effect=none":    true,
		"cap:in=media:;effect=none;b?=1": true,
	} {
		if got := caps.HasIdentity(parseAll(table)); got != want {
			t.Errorf("HasIdentity(%s) = %v, want %v", table, got, want)
		}
	}
}

func TestRankOrdersByDistance(t *testing.T) {
	for _, c := range []struct{ request, table, want string }{
		{`cap:in="media:ext=pdf";out="media:record";extract`,
			`cap:in="media:ext";out="media:record";extract cap:in="media:ext=pdf";out="media:record";extract;v=2 cap:in="media:ext=pdf";out="media:record";extract`,
			"2:0 1:4 0:-200"},
		{`cap:in="media:ext=pdf";x`, `cap:x cap:in="media:ext=pdf";x;a=1;b=2;c=3`, "1:12 0:-400"},
		{"cap:x", `cap:out="media:record";x cap:in="media:ext=pdf;a=1;b=2";x`, "1:1200 0:20000"},
		{"cap:x;a=1", "cap:y cap:x;a cap:x;!b;a=1 cap:x;a cap:x;a;?c cap:x;a=1;b", "5:2 2:5 1:-2 3:-2 4:-2"},
		{"cap:x", "cap:y", ""},
		{"cap:x", "", ""},
	} {
		var got []string
		for _, r := range caps.Rank(parse(c.request), parseAll(c.table)) {
			got = append(got, fmt.Sprintf("%d:%d", r.Place, r.Distance))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("Rank(%s) = %v, want %s", c.request, got, c.want)
		}
	}
}
