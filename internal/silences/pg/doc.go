// Package pg stores silences in PostgreSQL, and hides and releases incidents for them.
package pg
