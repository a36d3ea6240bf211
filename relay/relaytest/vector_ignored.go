package relaytest

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/cosim-go/cosim/relay/frame"
)

// compareIgnored compares what a case says is passed over with what is in its body, and sees
// to it that nothing of that is left in the decoded frame.
func (c *vectorCase) compareIgnored(body []byte, got *frame.Frame) {
	if !c.has("ignored") {
		return
	}
	var stated []string
	for _, v := range c.list("ignored") {
		text, ok := v.(string)
		if !ok {
			c.fail("ignored: no text: %s", jsonText(v))
		}
		stated = append(stated, text)
	}
	there := passedOver(body)
	for _, text := range stated {
		if i := slices.Index(there, text); i >= 0 {
			there = slices.Delete(there, i, i+1)
		} else {
			c.fail("ignored: the body has no such thing: %s", text)
		}
	}
	for _, text := range there {
		c.fail("ignored: the body has also: %s", text)
	}
	encoded, err := got.Append(nil)
	if err != nil {
		c.fail("Append of the decoded frame = %v", err)
	}
	for _, text := range passedOver(encoded) {
		c.fail("ignored: the decoded frame still has: %s", text)
	}
}

// passedOver says what in a body a decoder has to pass over.
func passedOver(body []byte) []string {
	entries, ok := cborEntries(body)
	if !ok {
		return []string{"no map"}
	}
	var found []string
	last := map[uint64][]byte{}
	for _, entry := range entries {
		head, _ := cborHeadOf(entry.key)
		switch kind := cborKind(entry.key); {
		case kind != "uint":
			found = append(found, "entry with a "+kind+" key")
			continue
		case head.n > largestKey:
			found = append(found, fmt.Sprintf("unknown key %d", head.n))
			continue
		case last[head.n] != nil:
			found = append(found, fmt.Sprintf("earlier duplicate of key %d", head.n))
		}
		last[head.n] = entry.value
	}
	for _, field := range frameFields {
		if value := last[field.key]; value != nil && field.kind != "" && cborKind(value) != field.kind {
			found = append(found, field.name+" has the wrong type")
		}
	}
	return append(found, passedOverInMeta(last[metaKey])...)
}

const metaKey = 5

func passedOverInMeta(meta []byte) []string {
	if meta == nil {
		return nil
	}
	entries, ok := cborEntries(meta)
	if !ok {
		return []string{"meta has the wrong type"}
	}
	var found []string
	seen := map[string]bool{}
	for _, entry := range entries {
		if kind := cborKind(entry.key); kind != "text" {
			found = append(found, "meta entry with a "+kind+" key")
			continue
		}
		name := string(cborContent(entry.key))
		if seen[name] {
			found = append(found, "earlier duplicate of meta key "+name)
		}
		seen[name] = true
	}
	return found
}

func hexFrom(b []byte, from int) string {
	return strings.TrimSpace(hex.EncodeToString(b[min(from, len(b)):]))
}
