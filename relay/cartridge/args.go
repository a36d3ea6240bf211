package cartridge

import (
	"io"
	"iter"
)

// argsOf yields the arguments of a request.
func argsOf(r *Request) iter.Seq2[*Input, error] {
	return func(yield func(*Input, error) bool) {
		for {
			in, err := r.Next()
			if err == io.EOF || !yield(in, err) || err != nil {
				return
			}
		}
	}
}
