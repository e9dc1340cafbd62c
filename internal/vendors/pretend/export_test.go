package pretend

// Fill adds n empty entries to a log.
func Fill(l *Log, n int) {
	for range n {
		l.add(Entry{})
	}
}
