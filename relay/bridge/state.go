package bridge

import (
	"context"
	"sync"
)

// A State is the newest RELAY_STATE payload that a slave has received: what the engine tells
// this host of models, devices and settings. The relay never looks into it. It is safe for
// concurrent use. The zero value has no payload yet.
type State struct {
	mu      sync.Mutex
	payload []byte
	version uint64
	newer   chan struct{} // closed by the next change; nil while nobody waits
}

// Load returns the newest payload and its version: how many payloads have come, 0 before the
// first. The payload is the caller's to read and never changes; it may be empty.
func (s *State) Load() (payload []byte, version uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.payload, s.version
}

// Wait returns the newest payload and its version as soon as that is above the version given;
// payloads that were replaced meanwhile are not seen. It fails with the context's cause.
func (s *State) Wait(ctx context.Context, above uint64) (payload []byte, version uint64, err error) {
	for {
		s.mu.Lock()
		if s.version > above {
			defer s.mu.Unlock()
			return s.payload, s.version, nil
		}
		if s.newer == nil {
			s.newer = make(chan struct{})
		}
		newer := s.newer
		s.mu.Unlock()
		select {
		case <-newer:
		case <-ctx.Done():
			return nil, 0, context.Cause(ctx)
		}
	}
}

// store makes payload, which it keeps, the newest.
func (s *State) store(payload []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.payload = payload
	s.version++
	if s.newer != nil {
		close(s.newer)
		s.newer = nil
	}
}
