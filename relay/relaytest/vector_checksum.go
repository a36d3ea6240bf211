package relaytest

import "github.com/cosim-go/cosim/relay/flow"

// checkChecksum checks a payload by itself, and in each place among others of its section.
func checkChecksum(c *vectorCase, section []any) {
	c.knows("name", "hex", "checksum")
	payload, want := c.hex("hex"), c.number("checksum")
	if len(c.failures) > 0 {
		return
	}
	if got := flow.Checksum(payload); got != want {
		c.fail("Checksum = %d, want %d", got, want)
		return
	}
	others := payloadsOf(section)
	for count := 1; count <= 5; count++ {
		for place := range count {
			payloads, sums := make([][]byte, count), make([]uint64, count)
			for i := range payloads {
				payloads[i] = others[(place+3*i)%len(others)]
			}
			payloads[place] = payload
			flow.Checksums(sums, payloads)
			if sums[place] != want {
				c.fail("Checksums of %d payloads = %d in place %d, want %d", count, sums[place], place, want)
				return
			}
		}
	}
}

// payloadsOf returns the payloads of a section; what has none counts as empty.
func payloadsOf(section []any) [][]byte {
	payloads := make([][]byte, len(section))
	for i, v := range section {
		if o, ok := v.(*jsonObject); ok {
			payloads[i], _ = jsonHex(o.values["hex"])
		}
	}
	return payloads
}
