package pretend

// Fill adds n empty entries to a log.
func Fill(l *Log, n int) {
	for range n {
		l.add(Entry{})
	}
}

// WantsKey reports whether the call asks for a key and has not ended.
func (s *Twilio) WantsKey(sid string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.calls[sid]
	return c != nil && !c.ended && (c.keysURL != "" || !c.answered)
}
