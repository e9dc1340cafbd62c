package auth

import "time"

// AuditRecord is one entry of the audit log: a change by a person or program.
type AuditRecord struct {
	ID     int64
	At     time.Time
	Actor  string // text for people, e.g. "user ann"
	Action string // e.g. "application key set"
	Object string // the changed object, e.g. "application demo"
	Detail string // never a secret
}
