// Package pg stores what operators change of the running system, counts what happened for statistics, and reads
// vendors, limits and unreached people.
package pg
