package mongolog

// Narrow makes lists end early, so that few runs are enough to test it.
func (s *Store) Narrow(entries, texts int) *Store {
	s.scan = scan{entries: entries, texts: texts}
	return s
}
