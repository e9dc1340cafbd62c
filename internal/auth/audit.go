package auth

import "time"

// AuditRecord is one change made by hand.
type AuditRecord struct {
	ID     int64
	At     time.Time
	Actor  string // who, in words
	Action string // what was done, e.g. "application key set"
	Object string // to what, e.g. "application demo"
	Detail string // never a secret
}
