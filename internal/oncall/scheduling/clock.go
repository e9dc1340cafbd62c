package scheduling

// Lengths on a wall clock, in seconds, like oncall.Local.
const (
	minute = 60
	hour   = 60 * minute
	day    = 24 * hour
	week   = 7 * day
)
