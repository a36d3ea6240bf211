// Package ours does with the relay's own packages what floors and peers do.
package ours

import (
	"github.com/cosim-go/cosim/relay/bench/internal/load"
	"github.com/cosim-go/cosim/relay/frame"
)

// frameOf is an item as the relay holds it. It borrows the item's bytes.
func frameOf(item load.Item) (*frame.Frame, error) {
	f := new(frame.Frame)
	return f, frame.Decode(item.Body(), f)
}

// Encode appends an item's body to a reused buffer n times.
func Encode(item load.Item) func(n int) error {
	f, invalid := frameOf(item)
	buffer := make([]byte, 0, len(item.Wire))
	return func(n int) (err error) {
		for range n {
			if buffer, err = f.Append(buffer[:0]); err != nil {
				return err
			}
		}
		return invalid
	}
}

// Decode reads an item's body n times.
func Decode(item load.Item) func(n int) error {
	body := item.Body()
	var f frame.Frame
	return func(n int) error {
		for range n {
			if err := frame.Decode(body, &f); err != nil {
				return err
			}
		}
		return nil
	}
}

// DecodeOwned reads an item's body n times, and makes each time a frame that borrows nothing.
func DecodeOwned(item load.Item) func(n int) error {
	body := item.Body()
	var f frame.Frame
	return func(n int) error {
		for range n {
			if err := frame.Decode(body, &f); err != nil {
				return err
			}
			Owned = f.Clone()
		}
		return nil
	}
}

// Owned keeps what was made last on the heap, where a program that keeps frames has them.
var Owned *frame.Frame

// Check tests an item's body n times as a relay does that passes it on.
func Check(item load.Item) func(n int) error {
	body := item.Body()
	return func(n int) error {
		for range n {
			if _, err := frame.Check(body); err != nil {
				return err
			}
		}
		return nil
	}
}
