// Package pg stores sessions, attempts to log in, tokens, accounts, accounts at identity providers, directories that
// push people, and reads the audit log. Package auth and those below it declare what it implements.
package pg
