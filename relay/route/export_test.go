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

// FlowsOf returns how many flows to hosts a switch has numbers of.
func FlowsOf(s *Switch) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for l := range s.links {
		n += l.out.Flows()
	}
	return n
}

// TableOf returns the present state of a switch's cap table.
func TableOf(s *Switch) *routes { return s.routes.Load() }

// CloseOutbox ends writing to a master, as a failure of its socket does, before the switch knows of it.
func CloseOutbox(s *Switch, id string) {
	s.mu.Lock()
	l := s.masterOf(id).link
	s.mu.Unlock()
	l.out.Close()
}
