package route

// PoolsOf returns how many pools a switch remembers.
func PoolsOf(s *Switch) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.masters {
		n += len(m.pools)
	}
	return n
}
