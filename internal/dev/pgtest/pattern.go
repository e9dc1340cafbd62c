package pgtest

import "testing"

// Pattern is a migrated database that is filled once and copied for many tests, because filling takes long.
type Pattern struct {
	r    ready
	name string
}

// NewPattern creates a pattern. It exists until Drop, not until t ends.
func NewPattern(t testing.TB) *Pattern {
	t.Helper()
	r := start(t)
	return &Pattern{r: r, name: makeDatabase(t, r, " template "+r.template+" strategy file_copy")}
}

// URL is the address of the pattern database, to fill it. All connections must be closed before the first Copy.
func (p *Pattern) URL() string { return withDatabase(p.r.url, p.name) }

// Copy returns the URL of a copy of the test's own, dropped when the test ends. It is safe for concurrent use.
func (p *Pattern) Copy(t testing.TB) string {
	t.Helper()
	return create(t, p.r, " template "+p.name+" strategy file_copy")
}

// Drop deletes the pattern.
func (p *Pattern) Drop() error { return drop(p.r, p.name) }
