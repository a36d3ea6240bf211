package outbox

import "context"

// A Source is one of those who feed an outbox. It counts the bytes of its own that wait there,
// so that one who sends much waits alone. It is not safe for concurrent use.
type Source struct {
	o    *Outbox
	max  int
	sent int
}

// NewSource returns a source of which max bytes may wait.
func (o *Outbox) NewSource(max int) *Source { return &Source{o: o, max: max} }

// Sent says that n bytes were given to the outbox just now for this source.
func (s *Source) Sent(n int) { s.sent += n }

// Room waits while more than max bytes of this source wait in the outbox. It returns the error
// of an outbox that died, or the cause of ctx when that ends first.
func (s *Source) Room(ctx context.Context) error {
	if s.sent <= s.max {
		return nil
	}
	s.sent = 0
	return s.o.wait(ctx, func() bool { return s.o.queued() <= s.max })
}
