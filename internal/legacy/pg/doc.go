// Package pg stores what `iris import` reads from the databases of the predecessors: one transaction, in which rows are
// staged, compared with existing rows, and inserted. Package internal/legacy/imports reads the predecessors and decides
// which rows to load.
package pg
