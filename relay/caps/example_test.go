package caps_test

import (
	"errors"
	"fmt"

	"github.com/cosim-go/cosim/relay/caps"
)

// A provider says what it takes and gives; a request asks for less.
func Example() {
	provider, err := caps.Parse(`cap:extract;in="media:ext=pdf";out="media:enc=utf-8";fast`)
	if err != nil {
		panic(err)
	}
	for _, text := range []string{"cap:extract", `cap:extract;in="media:ext=png"`, "cap:extract;!fast"} {
		request, err := caps.Parse(text)
		if err != nil {
			panic(err)
		}
		fmt.Println(request, caps.Dispatchable(provider, request))
	}
	// Output:
	// cap:extract true
	// cap:extract;in="media:ext=png" false
	// cap:extract;!fast false
}

// The canonical text is the same however a cap is spelled. A fault has a kind and a place.
func ExampleParse() {
	c, err := caps.Parse(`CAP:Out="media:Enc=UTF-8";extract;lang?;in=*`)
	fmt.Println(c, err)
	fmt.Println(c.In(), c.Out(), c.Effect(), c.Specificity())

	_, err = caps.Parse("cap:extract;in=pdf")
	fmt.Println(errors.Is(err, caps.ErrInvalidIn), err)
	// Output:
	// cap:extract;?lang;out="media:enc=utf-8" <nil>
	// media: media:enc=utf-8 declared 40002
	// true offset 15: the media URN of in: does not begin with media:
}

// An index answers with a place in the table that it was made of.
func ExampleIndex() {
	var table []*caps.Cap
	for _, text := range []string{caps.Identity, "cap:count", "cap:count;words", "cap:count;words;lang=en"} {
		c, err := caps.Parse(text)
		if err != nil {
			panic(err)
		}
		table = append(table, c)
	}
	index := caps.NewIndex(table)
	for _, request := range []string{"cap:count", "cap:count;lang=en", "cap:count;lang=de"} {
		if place, found := index.Find(request, ""); found {
			fmt.Println(request, "->", table[place])
		} else {
			fmt.Println(request, "-> nothing")
		}
	}
	place, _ := index.Find("cap:count", "cap:count;words") // rather this, when it can do it
	fmt.Println("preferred:", table[place])
	// Output:
	// cap:count -> cap:count
	// cap:count;lang=en -> cap:count;lang=en;words
	// cap:count;lang=de -> nothing
	// preferred: cap:count;words
}

// Refinements come before fallbacks, and of either the nearest.
func ExampleRank() {
	var table []*caps.Cap
	for _, text := range []string{"cap:resize;width", "cap:resize;width=640;sharp", "cap:resize;width=640"} {
		c, err := caps.Parse(text)
		if err != nil {
			panic(err)
		}
		table = append(table, c)
	}
	request, err := caps.Parse("cap:resize;width=640")
	if err != nil {
		panic(err)
	}
	for _, r := range caps.Rank(request, table) {
		fmt.Printf("%+d %s\n", r.Distance, table[r.Place])
	}
	// Output:
	// +0 cap:resize;width=640
	// +2 cap:resize;sharp;width=640
	// -2 cap:resize;width
}

func ExampleMedia_Conforms() {
	page, err := caps.ParseMedia("media:ext=pdf;page")
	if err != nil {
		panic(err)
	}
	for _, text := range []string{"media:", "media:ext=pdf", "media:ext", "media:ext=png", "media:!page"} {
		pattern, err := caps.ParseMedia(text)
		if err != nil {
			panic(err)
		}
		fmt.Println(pattern, page.Conforms(pattern))
	}
	// Output:
	// media: true
	// media:ext=pdf true
	// media:ext true
	// media:ext=png false
	// media:!page false
}
