// Package imports stores what `iris import` reads from the databases of the predecessors: one transaction, in which rows are
// staged, compared with what is here, and inserted. Package imports above it reads the predecessors and decides what to load.
package imports
