package relaytest

import (
	"fmt"
	"slices"

	"github.com/cosim-go/cosim/relay/caps"
)

// checkRanking checks in which order the caps of a table can serve a request, and which of them an
// index finds.
func checkRanking(c *vectorCase, _ []any) {
	c.knows("name", "request", "preferred", "candidates", "order", "distances", "chosen")
	request, preferred := c.cap("request"), (*caps.Cap)(nil)
	if c.has("preferred") {
		preferred = c.cap("preferred")
	}
	var table []*caps.Cap
	for i, v := range c.list("candidates") {
		table = append(table, c.capOf(fmt.Sprintf("candidate %d", i), v))
	}
	order, distances, chosen := c.numbers("order"), c.numbers("distances"), c.choice("chosen")
	if len(c.failures) > 0 {
		return
	}
	var places, from []int
	for _, r := range caps.Rank(request, table) {
		places, from = append(places, r.Place), append(from, r.Distance)
	}
	if !slices.Equal(places, order) {
		c.fail("Rank = %v, want %v", places, order)
	}
	if !slices.Equal(from, distances) {
		c.fail("Rank = caps at %v, want at %v", from, distances)
	}
	c.compareChoices(caps.NewIndex(table), request, preferred, chosen)
}

// none is the place of no cap.
const none = -1

// compareChoices asks an index for a request as a text, again so that the result is remembered, as
// bytes, and as a cap.
func (c *vectorCase) compareChoices(x *caps.Index, request, preferred *caps.Cap, want int) {
	wanted := ""
	if preferred != nil {
		wanted = preferred.String()
	}
	for _, find := range []func() (int, bool){
		func() (int, bool) { return x.Find(request.String(), wanted) },
		func() (int, bool) { return x.FindBytes([]byte(request.String()), wanted) },
		func() (int, bool) { return x.FindCap(request, preferred) },
	} {
		got, found := find()
		if !found {
			got = none
		}
		if got != want {
			c.fail("Find = %s, want %s", choiceText(got), choiceText(want))
			return
		}
	}
}

func choiceText(place int) string {
	if place == none {
		return "none"
	}
	return fmt.Sprint(place)
}

// choice returns a place in a list, or none for null.
func (c *vectorCase) choice(key string) int {
	if c.has(key) && c.values[key] == nil {
		return none
	}
	n, ok := jsonInt(c.values[key])
	c.want(key, "place or null", ok && n >= 0)
	return n
}

// numbers returns a list of numbers.
func (c *vectorCase) numbers(key string) (all []int) {
	for _, v := range c.list(key) {
		n, ok := jsonInt(v)
		if !ok {
			c.fail("%s: no number: %s", key, jsonText(v))
		}
		all = append(all, n)
	}
	return all
}
