package main

// A counter counts what is written to it. Words are what white space of ASCII separates.
type counter struct {
	lines, words, bytes int
	inWord              bool
}

func (c *counter) Write(p []byte) (int, error) {
	c.bytes += len(p)
	for _, b := range p {
		space := b == ' ' || '\t' <= b && b <= '\r'
		if !space && !c.inWord {
			c.words++
		}
		if b == '\n' {
			c.lines++
		}
		c.inWord = !space
	}
	return len(p), nil
}
