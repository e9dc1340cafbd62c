// Package pg stores schedules, shifts, swaps, unavailability and holidays, and reads calendars for the resolver. The
// on-call API, the jobs that fill schedules, and the operator's commands use it. Package oncall decides what a calendar
// may hold and what an edit changes; this package locks the team, stores the result and queues the notices about it.
package pg
