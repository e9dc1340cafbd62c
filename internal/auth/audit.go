package auth

import "time"

// AuditRecord is one change made by a person or program.
type AuditRecord struct {
	ID     int64
	At     time.Time
	Actor  string // text for people, e.g. "user ann"
	Action string // what was done, e.g. "application key set"
	Object string // to what, e.g. "application demo"
	Detail string // never a secret
}
