package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/cosim-go/cosim/relay/caps"
)

// A reader reads documents. What it has read of the document before it does not read again.
type reader struct {
	scanner
	urns map[string]*caps.Cap // by what is between their quotes
	size int                  // bytes of the keys of urns

	old    []byte // the document before; nil without one
	before parts  // the record at the same place in old
	now    parts  // the record that is read
	pool   string // the name of the pool that is read
}

func newReader() *reader { return &reader{urns: map[string]*caps.Cap{}} }

// document reads data as one value.
func (r *reader) document(data []byte, read func() error) error {
	if !utf8.Valid(data) {
		return errors.New("is no UTF-8")
	}
	r.scanner = scanner{data: data}
	if err := read(); err != nil {
		return err
	}
	if r.peek(); r.pos < len(data) {
		return r.broken("something follows the end")
	}
	return nil
}

// capURN reads a text that is a cap URN.
func (r *reader) capURN() (*caps.Cap, error) {
	if err := r.want('"', "a text"); err != nil {
		return nil, err
	}
	raw, _, err := r.rawText()
	if err != nil {
		return nil, err
	}
	c, err := r.parseURN(raw)
	if err != nil {
		return nil, fmt.Errorf("is %s, which is no cap URN: %w", quote(plain(raw)), err)
	}
	return c, nil
}

// parseURN returns the cap whose URN is between quotes, unescaped or not.
func (r *reader) parseURN(raw []byte) (*caps.Cap, error) {
	if c, known := r.urns[string(raw)]; known {
		return c, nil
	}
	c, err := caps.Parse(plain(raw))
	if err != nil {
		return nil, err
	}
	r.urns[string(raw)] = c
	r.size += len(raw)
	return c, nil
}

// plain returns what a string says, given what is between its quotes.
func plain(raw []byte) string {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw)
	}
	return unescape(raw)
}

// capList reads an array of cap URNs into a list in which each canonical text is once.
func (r *reader) capList() ([]*caps.Cap, error) {
	var list []*caps.Cap
	seen := map[string]bool{}
	err := r.array(func(int) error {
		c, err := r.capURN()
		if err == nil && !seen[c.String()] {
			seen[c.String()] = true
			list = append(list, c)
		}
		return err
	})
	return list, err
}
