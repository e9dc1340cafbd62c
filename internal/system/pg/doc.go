// Package pg stores the changes that operators make to the running system: pauses, limits and vendors. It counts
// incidents and messages for statistics, and finds people who were not reached.
package pg
