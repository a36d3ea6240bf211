package outbox

import (
	"context"
	"slices"
	"sync"
)

// defaultSource is how many bytes of a source may wait unless NewSource is told otherwise: the
// longest usual frame and a CHUNK.
const defaultSource = 4 << 20

// A Source is one of those who feed an outbox. It knows how many bytes of its own wait there,
// so that one who sends much waits alone. It is safe for concurrent use.
type Source struct {
	o   *Outbox
	max int

	mu    sync.Mutex
	held  int // bytes, of all marks
	marks []mark
}

// A mark says that some bytes of a source are written when the outbox has written until so far.
type mark struct {
	bytes int
	until uint64
}

// marksPerSource is into how many marks the bytes of a source go, about: more bytes of one mark
// count as waiting until the last of them is written.
const marksPerSource = 16

// NewSource returns a source of which max bytes may wait, 4 MiB for 0 and less.
func (o *Outbox) NewSource(max int) *Source {
	if max <= 0 {
		max = defaultSource
	}
	return &Source{o: o, max: max}
}

// Sent says that the outbox took n bytes of this source just now.
func (s *Source) Sent(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	until := s.o.taken.Load()
	s.held += n
	if last := len(s.marks) - 1; last >= 0 && s.marks[last].bytes+n <= s.max/marksPerSource {
		s.marks[last] = mark{s.marks[last].bytes + n, until}
		return
	}
	s.settle()
	s.marks = append(s.marks, mark{n, until})
}

// Waits reports whether something of this source waits.
func (s *Source) Waits() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settle()
	return s.held > 0
}

// HasRoom reports whether Room would return at once, as long as nothing more is sent.
func (s *Source) HasRoom() bool {
	if !s.over() {
		return true
	}
	_, wait := s.due()
	return !wait
}

// settle forgets what was written.
func (s *Source) settle() {
	written, done := s.o.written.Load(), 0
	for ; done < len(s.marks) && s.marks[done].until <= written; done++ {
		s.held -= s.marks[done].bytes
	}
	s.marks = slices.Delete(s.marks, 0, done)
}

// Room waits while more than max bytes of this source wait in the outbox, and then until half of
// it is free. It returns the error of an outbox that died meanwhile, or the cause of ctx when
// that ends first.
func (s *Source) Room(ctx context.Context) error {
	for s.over() {
		if err := s.o.failure(); err != nil {
			return err
		}
		until, wait := s.due()
		if !wait {
			return nil
		}
		if err := s.o.reach(ctx, until); err != nil {
			return err
		}
	}
	return nil
}

// over reports whether more than max bytes may be waiting.
func (s *Source) over() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.held > s.max
}

// due reports whether more than max bytes wait, and how far the outbox has to write first.
func (s *Source) due() (until uint64, wait bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settle()
	if s.held <= s.max {
		return 0, false
	}
	left := s.held
	for _, m := range s.marks {
		until = m.until
		if left -= m.bytes; left <= s.max/2 {
			break
		}
	}
	return until, true
}
