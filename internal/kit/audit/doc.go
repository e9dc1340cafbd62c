// Package audit has the entries of the audit log: who changed which setting or right, from where, and what it was
// before and after. The storage writes an entry in the transaction of its change. Incidents and messages have logs of
// their own and are not in this one. docs/audit.md describes the log for operators.
package audit
