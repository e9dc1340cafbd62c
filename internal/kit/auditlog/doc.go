// Package auditlog writes the audit log: the entry of a change, in the transaction of the change. The other packages of
// the storage call it. Package auth reads the log.
package auditlog
