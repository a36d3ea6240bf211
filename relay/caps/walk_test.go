package caps_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cosim-go/cosim/relay/caps"
)

// A plainCap is what a cap says, compared without any of the package's ways to compare.
type plainCap struct {
	in, out, tags map[string]caps.Tag
	effect        string
	weight        int
}

func plain(c *caps.Cap) *plainCap {
	tags := func(all func(func(caps.Tag) bool)) map[string]caps.Tag {
		m := map[string]caps.Tag{}
		for t := range all {
			m[t.Key] = t
		}
		return m
	}
	p := &plainCap{in: tags(c.In().Tags()), out: tags(c.Out().Tags()), tags: tags(c.Tags()), effect: c.Effect().String()}
	p.weight = 10_000*weight(p.out) + 100*weight(p.in) + weight(p.tags)
	return p
}

func weight(tags map[string]caps.Tag) (sum int) {
	for _, t := range tags {
		sum += strings.IndexRune("?o*nvx", spelling(t))
	}
	return sum
}

// spelling returns a letter for a tag's form: ? o * n v x, by rising specificity.
func spelling(t caps.Tag) rune {
	text := t.String()
	switch {
	case text[0] == '!':
		return 'x'
	case text[0] == '?':
		return '?'
	case strings.Contains(text, "?="):
		return 'o'
	case strings.Contains(text, "!="):
		return 'n'
	case strings.Contains(text, "="):
		return 'v'
	}
	return '*'
}

// fits reports whether an instance matches a pattern on every key.
func fits(instance, pattern map[string]caps.Tag) bool {
	for key, p := range pattern {
		i, there := instance[key]
		have := '-'
		if there {
			have = spelling(i)
		}
		same := i.Value == p.Value
		ok := false
		switch spelling(p) {
		case '?':
			ok = true
		case 'x':
			ok = strings.ContainsRune("-?xo", have)
		case '*':
			ok = strings.ContainsRune("?*nv", have)
		case 'n':
			ok = strings.ContainsRune("?*n", have) || have == 'v' && !same
		case 'o':
			ok = strings.ContainsRune("-?xo*n", have) || have == 'v' && !same
		case 'v':
			ok = strings.ContainsRune("?*", have) || have == 'n' && !same || have == 'v' && same
		}
		if !ok {
			return false
		}
	}
	return true
}

func (p *plainCap) serves(r *plainCap) bool {
	switch {
	case len(r.in) > 0 && len(p.in) > 0 && !fits(r.in, p.in):
	case len(r.out) > 0 && (len(p.out) == 0 || !fits(p.out, r.out)):
	case r.effect != "?" && r.effect != p.effect:
	default:
		return fits(p.tags, r.tags)
	}
	return false
}

func (p *plainCap) accepts(i *plainCap) bool {
	return (len(p.in) == 0 || fits(i.in, p.in)) && (len(p.out) == 0 || fits(p.out, i.out)) &&
		(p.effect == "?" || p.effect == i.effect) && fits(i.tags, p.tags)
}

// walkFor returns the place of the cap of a table that serves a request best, or -1.
func walkFor(request, preferred *plainCap, table []*plainCap) int {
	best := -1
	for place, c := range table {
		if !c.serves(request) {
			continue
		}
		if preferred != nil && c.accepts(preferred) && preferred.accepts(c) {
			return place
		}
		if best < 0 || nearer(c.weight-request.weight, table[best].weight-request.weight) {
			best = place
		}
	}
	return best
}

func nearer(a, b int) bool {
	if (a < 0) != (b < 0) {
		return b < 0
	}
	return max(a, -a) < max(b, -b)
}

// randomTags writes up to n tags with few keys and values, so that they often meet.
func randomTags(r *rand.Rand, n int, keys string) string {
	tags := map[string]string{}
	for range r.IntN(n + 1) {
		key, value := string(keys[r.IntN(len(keys))]), string("12A"[r.IntN(3)])
		if value == "A" {
			value = `"A"`
		}
		tags[key] = [...]string{"?k", "!k", "k", "k", "k", "k=", "k=", "k=", "k=", "k!=", "k?="}[r.IntN(11)]
		tags[key] = strings.Replace(tags[key], "k", key, 1)
		if strings.HasSuffix(tags[key], "=") {
			tags[key] += value
		}
	}
	return strings.Join(slices.Collect(maps.Values(tags)), ";")
}

// randomCap returns a cap as [caps.Parse] takes it.
func randomCap(r *rand.Rand) string {
	for {
		text := "cap:" + randomTags(r, 3, "abcd")
		for _, axis := range []string{"in", "out"} {
			if r.IntN(3) > 0 {
				media := "media:" + randomTags(r, 2, "ef")
				text += ";" + axis + `="` + strings.ReplaceAll(media, `"`, `\"`) + `"`
			}
		}
		text += [...]string{"", "", "", "", "", ";effect=none", ";effect=patch", ";?effect"}[r.IntN(8)]
		if _, err := caps.Parse(text); err == nil {
			return text
		}
	}
}

// randomCaps returns caps with what they say.
func randomCaps(r *rand.Rand, n int) (all []*caps.Cap, says map[*caps.Cap]*plainCap) {
	says = map[*caps.Cap]*plainCap{}
	for range n {
		c := parse(randomCap(r))
		all = append(all, c)
		says[c] = plain(c)
	}
	return all, says
}

func random(t testing.TB) *rand.Rand {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// TestIndexFindsWhatAWalkFinds compares the index, the ranking and a plain walk on many random
// tables, most of them small, where ties and preferred caps are frequent.
func TestIndexFindsWhatAWalkFinds(t *testing.T) {
	rounds := 100_000
	if testing.Short() {
		rounds = 2_000
	}
	r := random(t)
	all, says := randomCaps(r, 4000)
	any := func() *caps.Cap { return all[r.IntN(len(all))] }
	var found, tied, preferredFound, fallback int
	for round := range rounds {
		table := make([]*caps.Cap, r.IntN(13))
		if round%500 == 0 {
			table = make([]*caps.Cap, 200)
		}
		said := make([]*plainCap, len(table))
		for i := range table {
			if table[i] = any(); i > 0 && r.IntN(6) == 0 {
				table[i] = table[r.IntN(i)]
			}
			said[i] = says[table[i]]
		}
		request, preferred := any(), (*caps.Cap)(nil)
		if len(table) > 0 && r.IntN(4) == 0 {
			request = table[r.IntN(len(table))]
		}
		wanted := ""
		if r.IntN(2) == 0 {
			if preferred = any(); len(table) > 0 && r.IntN(2) == 0 {
				preferred = table[r.IntN(len(table))]
			}
			wanted = preferred.String()
		}
		want := walkFor(says[request], says[preferred], said)
		index := caps.NewIndex(table)
		for range 2 { // the second time it is remembered
			if got, ok := index.Find(request.String(), wanted); ok != (want >= 0) || ok && got != want {
				t.Fatalf("Find(%s, %s) = %d, %v, want %d in %v", request, wanted, got, ok, want, table)
			}
		}
		ranked := caps.Rank(request, table)
		without := walkFor(says[request], nil, said)
		if (len(ranked) > 0) != (without >= 0) || len(ranked) > 0 && ranked[0].Place != without {
			t.Fatalf("Rank(%s) = %v, want %d first of %v", request, ranked, without, table)
		}
		if len(ranked) > 0 {
			found++
			if len(ranked) > 1 && ranked[0].Distance == ranked[1].Distance {
				tied++
			}
			if ranked[0].Distance < 0 {
				fallback++
			}
			if want != without {
				preferredFound++
			}
		}
	}
	t.Logf("%d found, %d of them with a tie, %d by preference, %d said less than was asked for", found, tied, preferredFound, fallback)
	for what, n := range map[string]int{"found": found, "tied": tied, "by preference": preferredFound, "less": fallback} {
		if n < rounds/500 {
			t.Errorf("only %d of %d are of the kind %q", n, rounds, what)
		}
	}
}

// TestCompareLikeAPlainCap compares all pairs of some caps.
func TestCompareLikeAPlainCap(t *testing.T) {
	r := random(t)
	all, says := randomCaps(r, 300)
	for _, a := range all {
		if !caps.Dispatchable(a, a) {
			t.Errorf("%s does not serve itself", a)
		}
		if !a.Accepts(a) || !a.Equivalent(a) || a.Specificity() != says[a].weight {
			t.Errorf("%s differs from itself", a)
		}
		for _, b := range all {
			if got, want := caps.Dispatchable(a, b), says[a].serves(says[b]); got != want {
				t.Fatalf("Dispatchable(%s, %s) = %v, want %v", a, b, got, want)
			}
			if got, want := a.Accepts(b), says[a].accepts(says[b]); got != want {
				t.Fatalf("%s accepts %s: %v, want %v", a, b, got, want)
			}
			if a.Equivalent(b) != b.Equivalent(a) {
				t.Fatalf("equivalence of %s and %s has a direction", a, b)
			}
		}
	}
}
